/// The number that an app's icon shows.
package enum Badge: Sendable, Equatable {
  case number(Int)
  /// One more than the installation's own badge, which a job raises once, however often its push is sent: `"+1"`.
  case next

  /// How a job says `next`.
  static let increment = "+1"

  /// Nil when the job says nothing of it.
  init?(_ reader: FieldReader) throws(InvalidField) {
    if case .string(let text)? = reader["badge"] {
      guard text == Self.increment else {
        throw reader.refused(
          "badge", "must be a number, or \"\(Self.increment)\" for one more than the installation's"
        )
      }
      self = .next
    } else {
      guard let number = try reader.integer("badge", in: 0...Limits.badgeMax) else { return nil }
      self = .number(number)
    }
  }

  func json() -> JSONValue {
    switch self {
    case .number(let number): .integer(number)
    case .next: .string(Self.increment)
    }
  }

  /// Returns its value in a message that is rendered; of `next` a mark.
  /// - Parameter max: the largest that its network takes, in place of a larger one; at most `Mark.atMostMax`.
  package func rendered(atMost max: Int? = nil) -> JSONValue {
    switch self {
    case .number(let number): .integer(min(number, max ?? number))
    case .next: .number(JSONNumber(checked: Mark.badge(atMost: max).text))
    }
  }
}
