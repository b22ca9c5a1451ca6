/// The transports that one conformance suite holds to the same.
enum TransportKind: String, CaseIterable, Sendable {
  /// The worker's own, straight to the network.
  case native
  /// The same through a proxy's tunnel.
  case proxied
  /// libcurl's, for networks that take many pushes a request.
  case curl

  /// Those for networks that take one push a request.
  static let own: [TransportKind] = [.native, .proxied]
}
