internal import Typesetting

/// Why a session did not do what it was asked for: one sentence for a person, and a kind for the program, which has a status
/// of its own for each.
package struct StoreFailure: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The input is refused.
    case invalid
    /// A key of Redis holds another type than it must.
    case wrongType
    /// There is no such job.
    case notFound
    /// Redis is away, refuses the command, or is not fit for it.
    case unavailable
    /// The caller wanted it to end.
    case interrupted
    /// The configuration of Redis cannot be used.
    case misconfigured
    /// An answer made no sense.
    case internalError
  }

  package let kind: Kind
  package let description: String
  /// Whether Redis may have done what it was asked for: its answer was lost.
  package let mayHaveHappened: Bool

  package init(_ kind: Kind, _ description: String, mayHaveHappened: Bool = false) {
    self.kind = kind
    self.description = description
    self.mayHaveHappened = mayHaveHappened
  }

  /// - Parameter others: why else it may be unknown.
  package static func unknownJob(_ id: String, app: String, or others: String) -> StoreFailure {
    StoreFailure(
      .notFound,
      "there is no job \(DisplayText.printable(id)) of \(app): \(others), refused (pushpool dead list), or "
        + "ended longer ago than its record is kept (by default an hour without an id, a day with "
        + "one, and a week if it went to many)")
  }
}
