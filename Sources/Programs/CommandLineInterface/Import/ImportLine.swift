internal import Model

/// A line of an import.
enum ImportLine {
  case installation(Installation)
  /// Told from an installation by its topic.
  case subscription(Subscription)

  init(bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    let json = try JSONValue(document: bytes)
    guard case .object(var object) = json else {
      self = .installation(try Installation(json: json))
      return
    }
    if object["topic"] != nil, object["token"] == nil {
      self = .subscription(try Subscription(json: json))
    } else if object["network"]?.stringValue == Network.apns.rawValue,
      let digits = object["token"]?.stringValue.flatMap({ DeviceToken.digits(described: $0) })
    {
      object["token"] = .string(digits)
      self = .installation(try Installation(json: .object(object)))
    } else {
      self = .installation(try Installation(json: json))
    }
  }
}
