/// The numbers that a benchmark runs with, one home for all of them.
enum BenchLimits {
  static let countDefault = 300_000
  static let countMin = 10_000
  static let countMax = 10_000_000
  static let repeatsDefault = 3
  static let repeatsMax = 20
  /// Users named by one job.
  static let usersPerJobMax = 100_000
  /// Users of the job that opens connections and warms caches up before anything is measured.
  static let warmUpUsers = 2_000
  /// Imports that are on their way to Redis at a time.
  static let importsInFlight = 8
  /// One lane's connections to a network and the streams on each; h2load gets the same.
  static let connections = 2
  static let streams = 1_000
  /// Distinct paths that h2load uses in turn. It takes all of them apart before it starts: with one
  /// for each push that costs as much as the sending, and differs more from run to run.
  static let yardstickPathsMax = 10_000
  /// How often a campaign's records are looked at.
  static let pollMs: UInt64 = 20
  /// A campaign that takes longer has failed.
  static let campaignMsMax: UInt64 = 300_000
  static let startMsMax: UInt64 = 15_000
  static let stopMsMax: UInt64 = 10_000
  /// The answer time of the scenario `answer-time`, and its pushes: about ten seconds of them.
  static let answerMs = 100
  static let answerTimePushesMax = 200_000
  /// Which part of a campaign counts as its steady part.
  static let steadyFrom = 0.2
  static let steadyTo = 0.8
  /// Jobs of the scenario `latency`, and the pause before each, which leaves the worker idle.
  static let latencyJobs = 300
  static let latencyPauseMs: ClosedRange<UInt64> = 10...40
  static let latencyMsMax: UInt64 = 10_000
  /// How often the accept log is looked at.
  static let latencyPollMicroseconds: UInt32 = 50
  /// The largest file of /proc or of h2load's report that is read.
  static let textBytesMax = 1 << 20
}
