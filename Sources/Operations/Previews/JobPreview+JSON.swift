package import Model
internal import Providers

extension JobPreview {
  /// The words in place of a credential, which is shown nowhere.
  package static let shownCredential = "(credential)"

  /// Returns the whole preview as one object.
  /// - Parameter job: the job that it is of.
  package func json(of job: Job) -> JSONValue {
    var object: JSONObject = ["app": .string(job.app)]
    object["id"] = job.id.map { .string($0) }
    object["refused"] = refusal.map { Self.json(of: $0) } ?? .null
    object["devices"] = .array(pushes.map { .object(Self.object(of: $0)) })
    return .object(object)
  }

  private static func json(of field: InvalidField) -> JSONValue {
    ["field": .string(field.pointer), "message": .string(field.message)]
  }

  private static func object(of push: PreviewedPush) -> JSONObject {
    let target = push.target
    var object: JSONObject = [
      "network": .string(target.network.rawValue),
      "environment": .string(target.environment.rawValue), "token": .string(target.shownToken),
    ]
    object["in_audience"] = push.isInAudience.map { .bool($0) } ?? .null
    switch push.result {
    case .request(let request): object["request"] = json(of: request)
    case .nothing(let cause):
      object["cause"] = .string(cause.code)
      object["text"] = .string(cause.sentence(target))
    }
    return object
  }

  private static func json(of request: PreviewedRequest) -> JSONValue {
    var headers = JSONObject()
    for header in request.headers { headers[header.name] = .string(header.value) }
    if request.hasCredentialHeader { headers["authorization"] = .string(shownCredential) }
    let sizes = request.sizes.map { size -> JSONValue in
      [
        "part": .string(size.part), "bytes": .integer(size.bytes),
        "bytes_max": .integer(size.bytesMax),
      ]
    }
    return [
      "method": .string(request.method), "url": .string(request.url),
      "headers": .object(headers),
      "body": request.json ?? .string(String(decoding: request.body, as: UTF8.self)),
      "sizes": .array(sizes), "devices_max": .integer(request.devicesMax),
    ]
  }
}
