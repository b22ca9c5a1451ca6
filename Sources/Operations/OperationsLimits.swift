/// The limits of what operators read and do.
package enum OperationsLimits {
  /// A worker beats every second; one that was silent for so long is lost.
  package static let workerSilentMs: Int64 = 2_500
  /// Dead letters looked through for the reason of one job.
  static let deadSearchMax = 1_000
  /// Dead letters that are read at a time.
  package static let deadPage = 500
  // Jobs
  /// Jobs that a list looks at.
  package static let listedJobsMax = 1_000
  /// How often a watch reads the job's record.
  static let jobPollMs: UInt64 = 200
  /// How long a job may stand still before one asks why.
  static let standstillMs: Int64 = 3_000
  /// How often one asks again.
  static let explanationMs: Int64 = 1_000
  /// How often a job that waits is given a name, while workers are faster.
  static let namingTriesMax = 3
  /// Between two looks at the jobs that wait, of about 1 ms each: others have more of Redis' time than a search.
  static let searchPauseMs: UInt64 = 2
  // Metrics
  /// Series of `pushpool_pushes_total`: those of 1,000 apps that use all networks.
  package static let pushSeriesMax = 20_000
  /// Workers that are told of one by one: each has some hundred series.
  package static let meteredWorkersMax = 200
  /// Open jobs that are looked at.
  package static let meteredJobsMax = 1_000
  /// The longest name of a worker, a host or a version that becomes a label.
  static let labelBytesMax = 128
  /// How long after the last look of a worker, which there is each 10 s, work counts as unseen.
  static let unseenWorkMs: Int64 = 30_000
  // The doctor
  /// How long a push network has for its answer, and to be reached.
  package static let networkAnswerMs: UInt64 = 10_000
  static let networksAskedAtOnce = 16
  /// Accounts at push networks that are asked.
  package static let examinedNetworksMax = 200
  /// Certificates whose end is told.
  package static let certificatesToldMax = 100
  /// How often one app is sealed anew that somebody changes meanwhile.
  static let resealTriesMax = 16
  /// Apps of Redis that are opened.
  package static let examinedAppsMax = 1_000
  /// Apps of Redis with faults, each of which is a finding.
  package static let badAppsToldMax = 100
  /// The clocks of Redis and of a machine differ by no more, as workers see it (`WorkerLimits.clockDifferenceMsMax`).
  static let clockDifferenceMsMax: UInt64 = 30_000
  static let redisVersionMin = 7
  /// The share of its memory beyond which Redis is told to get full.
  static let redisMemoryShareMax = 0.9
  /// Jobs that ended last, for how long records are kept in the mean.
  static let forecastJobs = 100
  // A trace
  /// How long after a job's end its last events may come: workers send them within 200 ms.
  static let traceLagMs: Int64 = 1_000
  /// How far a lane's trace is behind a record of a job that goes on: its timer, and a trip to Redis.
  static let traceRunningLagMs: Int64 = 300
  static let tracePagesMax = 2_000
  /// Events of a trace that are kept in memory.
  package static let traceEventsMax = 10_000
  /// Different things that a summary counts; beyond them reasons are not told apart.
  static let traceSortsMax = 500
  /// TRACE_S in Functions/Library/limits.lua.
  package static let traceLifeMs: Int64 = 48 * 3_600_000
  // Access
  /// Bytes that whoever makes a key may say of it.
  package static let keyNameBytesMax = 128
  /// Bytes of an HS256 key: RFC 7518, 3.2 asks for as many as the digest has.
  static let hmacKeyBytesMin = 32
  /// Acts that one page looks at for those that match.
  static let actsLookedMax = 10_000
  /// Keys of a wrong type that a message names.
  static let wrongKeysNamedMax = 3
}
