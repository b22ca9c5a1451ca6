package import Model
package import Providers

/// The request that one device would get, with all that does not change from push to push.
package struct PreviewedRequest: Sendable, Equatable {
  package let method = "POST"
  /// `https://api.push.apple.com/3/device/00ff00ff…`
  package let url: String
  /// In the order in which they are sent; without the credential.
  package let headers: [RenderedPush.Header]
  /// Whether the header `authorization` follows; else the TLS certificate authorises.
  package let hasCredentialHeader: Bool
  package let body: [UInt8]
  /// The body as JSON; nil when it is none, which no network's is today.
  package var json: JSONValue? { try? JSONParser().parse(body) }
  /// The sizes of the parts that the network limits, counted with the whole device token.
  package let sizes: [PayloadSize]
  /// How many devices a request is for at most.
  package let devicesMax: Int

  /// The text in place of a request's id, which follows from the job's entry and all devices of the request.
  package static let shownID = "(id)"

  /// - Parameter rendered: with all texts filled in.
  init(
    _ rendered: RenderedPush, of provider: any PushProvider, to target: PreviewTarget,
    devicesMax: Int
  ) {
    let path = rendered.path(to: target.shownToken)
    url = "https://\(provider.destination.authority)" + String(decoding: path, as: UTF8.self)
    headers = rendered.headers
    hasCredentialHeader = provider.credentials.hasHeader
    body = rendered.body(to: [target.shownToken], id: Self.shownID, isFID: target.isFID)
    sizes = rendered.limits.filter { !$0.text.isEmpty }.map {
      PayloadSize(part: $0.part, bytes: $0.bytes, bytesMax: $0.bytesMax)
    }
    self.devicesMax = devicesMax
  }
}

/// A part of a request whose length its network limits.
package struct PayloadSize: Sendable, Equatable {
  /// To be read behind the network's name.
  package let part: String
  /// The size as the network counts it.
  package let bytes: Int
  package let bytesMax: Int
}
