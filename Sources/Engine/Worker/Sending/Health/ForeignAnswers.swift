/// Answers that came in place of a network's own, of one destination: a gateway's page, a captive portal's. Times are the
/// loop's.
struct ForeignAnswers {
  /// For how long after such an answer, amid answers of the network's own, that is an alarm.
  static let amidGoodNs: UInt64 = 10_000_000_000
  /// For how long it is an alarm where nothing of the network's own has come since.
  static let unbrokenNs: UInt64 = 600_000_000_000

  /// Whether nothing of the network's own has come since the first of them. Looked at for each answer.
  private(set) var isUnbroken = false
  private var last: (reason: String, atNs: UInt64)?

  mutating func note(_ reason: String, nowNs: UInt64) {
    isUnbroken = true
    last = (reason, nowNs)
  }

  /// The network itself answered.
  mutating func end() { isUnbroken = false }

  /// The reason that came last, while it is to be an alarm.
  func reason(nowNs: UInt64) -> String? {
    guard let last else { return nil }
    return nowNs &- last.atNs < (isUnbroken ? Self.unbrokenNs : Self.amidGoodNs) ? last.reason : nil
  }
}
