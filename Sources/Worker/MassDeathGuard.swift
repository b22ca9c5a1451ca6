/// Notices when so many device tokens of one destination are refused as bad that the cause must be the
/// configuration (the wrong environment above all) and not the devices: auto-uninstall then waits
/// until the share has come down. One per destination and lane.
struct MassDeathGuard {
  /// Refusals within a window below which the share says nothing.
  static let refusalsMin = 50
  /// The share of a window's answers that is too much, in percent.
  static let sharePercentMax = 5
  static let windowNs: UInt64 = 60_000_000_000

  private var windowStartNs: UInt64 = 0
  private var answers = 0
  private var refusals = 0
  /// Whether uninstalling has stopped.
  private(set) var isTripped = false

  mutating func noteAnswer(nowNs: UInt64) {
    if nowNs &- windowStartNs >= Self.windowNs {
      isTripped = isTooMany
      windowStartNs = nowNs
      answers = 0
      refusals = 0
    }
    answers += 1
  }

  /// Notes a token refused as bad.
  mutating func noteRefusal() {
    refusals += 1
    if isTooMany { isTripped = true }
  }

  private var isTooMany: Bool {
    refusals >= Self.refusalsMin && refusals * 100 > answers * Self.sharePercentMax
  }
}
