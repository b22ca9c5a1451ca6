/// The limits of the demo.
enum DemoLimits {
  /// FCM's allowance, so large that it holds nothing up.
  static let messagesPerMinute = 100_000_000
  /// How often a demo that is kept looks whether it is to end.
  static let pollMs: UInt64 = 200
  /// How long the worker may take to end.
  static let workerGraceMs: UInt64 = 10_000
  /// How much of the worker's log is shown when it has ended by itself.
  static let logEndBytes = 2_000
}
