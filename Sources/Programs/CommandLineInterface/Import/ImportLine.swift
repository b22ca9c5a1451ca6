internal import Model

/// What a line of an import can be.
enum ImportLine {
  case installation(Installation)
  /// Told from an installation by its topic.
  case subscription(Subscription)

  init(bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    let json = try JSONValue(document: bytes)
    if case .object(let object) = json, object["topic"] != nil, object["token"] == nil {
      self = .subscription(try Subscription(json: json))
    } else {
      self = .installation(try Installation(json: json))
    }
  }
}
