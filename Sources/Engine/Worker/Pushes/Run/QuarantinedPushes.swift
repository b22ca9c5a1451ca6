/// The pushes of a run in quarantine: they may be what the network calls malformed; loop-bound.
struct QuarantinedPushes {
  private struct Entry {
    let sinceNs: UInt64
    /// Times that it was called malformed among others, and when it was tried apart from them.
    var complaints = 0
    var refusals = Quarantine.Refusals()
  }

  private var entries: [Int: Entry] = [:]
  /// The pushes that are tried apart from others.
  private var apart: Set<Int> = []

  /// Since when a push has been in quarantine; nil when it is not.
  func sinceNs(_ push: Int) -> UInt64? { entries.isEmpty ? nil : entries[push]?.sinceNs }

  func contains(_ push: Int) -> Bool { sinceNs(push) != nil }

  func isApart(_ push: Int) -> Bool { apart.contains(push) }

  /// Whether it was called malformed so often that it is to be tried apart.
  func isSuspect(_ push: Int) -> Bool {
    entries[push].map { $0.complaints >= Quarantine.complaintsMin } ?? false
  }

  /// Whether it was called malformed as often as it takes, in requests of its own.
  func isCondemned(_ push: Int) -> Bool {
    entries[push].map { $0.refusals.count >= Quarantine.refusalsMax } ?? false
  }

  /// The network has complained of a request of this push, or of a connection that it was on.
  mutating func note(_ push: Int, nowNs: UInt64) {
    if entries[push] == nil { entries[push] = Entry(sinceNs: nowNs) }
  }

  /// The network called it malformed.
  mutating func noteMalformed(_ push: Int, _ complaint: Quarantine.Complaint, nowNs: UInt64) {
    note(push, nowNs: nowNs)
    entries[push]?.refusals.note(complaint)
    if complaint == .accused { entries[push]?.complaints += 1 }
  }

  /// A push is tried apart from others.
  mutating func noteApart(_ push: Int) { apart.insert(push) }
}
