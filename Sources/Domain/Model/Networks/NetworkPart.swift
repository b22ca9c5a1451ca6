/// The part of a job for one network alone. Its field in a job has the network's name.
protocol NetworkPart: Sendable, Equatable {
  static var network: Network { get }

  init(json: JSONValue, at pointer: String) throws(InvalidField)

  func json() -> JSONValue

  /// Whether it is something to send without a common notification.
  var isSendable: Bool { get }

  /// Whether the network brings a common notification to people or apps.
  static func shows(_ notification: Notification) -> Bool

  /// Whether the network shows the badge of a common notification; asked for each push.
  static func showsBadge(of notification: Notification) -> Bool

  /// Checks what an older version may have admitted otherwise, and puts it into the form that is sent.
  mutating func checkAdmission(of form: JobForm) throws(InvalidField)

  /// Puts marks in the place of placeholders, in all its texts.
  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField)
}

/// The kind of job that a part for a network belongs to.
struct JobForm {
  /// Whether it is for one installation.
  let isForOne: Bool
  /// Whether its texts are filled in for each user.
  let isFilledIn: Bool
}

extension NetworkPart {
  var isSendable: Bool { true }

  static func shows(_ notification: Notification) -> Bool { true }

  static func showsBadge(of notification: Notification) -> Bool { true }

  mutating func checkAdmission(of form: JobForm) throws(InvalidField) {}

  // MARK: What NetworkParts asks of each

  static func read(_ reader: FieldReader) throws(InvalidField) -> Self? {
    let field = network.rawValue
    return try reader[field].map { (value) throws(InvalidField) in
      try Self(json: value, at: reader.pointer(to: field))
    }
  }

  static func write(_ part: Self?, to object: inout JSONObject) {
    object.add(part?.json(), for: network.rawValue)
  }

  static func isFor(_ part: Self?, beside notification: Notification?) -> Bool {
    notification.map(shows) == true || part?.isSendable == true
  }
}
