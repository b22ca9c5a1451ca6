/// How long a stage's processes may take: far longer than they do, on a busy machine too.
enum StageLimits {
  static let startMsMax: UInt64 = 20_000
  static let stopMsMax: UInt64 = 15_000
}
