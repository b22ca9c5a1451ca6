package import Model

/// The last that the workers of a fleet saw of the work that nobody has taken, by priority.
package struct WaitingNotes: Sendable, Equatable {
  /// When they last looked, epoch milliseconds; nil when none has of late.
  package private(set) var atMs: Int64?
  /// Since when the oldest job or chunk waits, epoch milliseconds; nil where none does.
  package private(set) var sinceMs: [Priority: Int64] = [:]

  package init() {}

  /// - Parameter fields: those of `Keys.oldest`; others than these notes are passed over.
  init(fields: [(String, String)]) {
    let named = Dictionary(fields, uniquingKeysWith: { $1 })
    atMs = Self.instantMs(named["at"])
    for priority in Priority.allCases {
      sinceMs[priority] = Self.instantMs(named["\(priority.rawValue)|since"])
    }
  }

  private static func instantMs(_ text: String?) -> Int64? {
    guard let number = text.flatMap({ Int64($0) }), number > 0 else { return nil }
    return StoredNumber.instantMs(number)
  }
}
