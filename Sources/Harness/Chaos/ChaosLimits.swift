/// The numbers that the runs are made with, one home for all of them.
enum ChaosLimits {
  static let scaleMin = 0.01
  static let scaleMax = 10.0
  static let soakMinutesMax = 10_080.0
  /// Users of a stage, one installation each.
  static let usersDefault = 50_000
  static let usersBrief = 10_000
  /// Users named by one job of an ordinary load.
  static let usersPerJob = 10_000
  static let usersPerBriefJob = 2_000
  /// Jobs that are unfinished at a time while a load is kept up.
  static let jobsOutstanding = 4
  /// As many where the rate is measured while some pushes wait for their next attempts: with fewer jobs the load waits with them,
  /// and says nothing of the workers.
  static let jobsOutstandingBesideRetries = 24
  /// Jobs to one user each that are unfinished at a time.
  static let smallJobsOutstanding = 2_000
  /// By how much fewer pushes of such jobs are enough for a row: each is a job, with a record to be checked.
  static let smallJobsShare = 10
  static let importsInFlight = 32
  /// Commands to Redis of one task that are on their way at a time.
  static let commandsInFlight = 64

  // Workers
  static let lanes = 1
  static let connections = 2
  static let streams = 50
  /// How long work waits for a worker that has its app or credentials.
  static let unroutedSeconds = 5
  static let leaseSeconds = 3
  static let drainSeconds = 10
  static let requestTimeoutSeconds = 3
  /// Answers take this long, so that there is always something in flight.
  static let answerMs = 10
  /// Results of a chunk that may wait for a checkpoint (docs/reference/guarantees.md, promise 2).
  static let unsettledPerChunk = 100
  /// Recipients that a lane can have in hand at all: it claims chunks of 256 while fewer than one's wait to be
  /// resolved and fewer than 512 pushes wait to be sent, and others wait for their last answers.
  static let inHandPerLane = 6 * 256
  /// The time that a recovery may take beyond the lease.
  static let recoverySeconds = 5.0
  /// By how much more time a brief trial gives everything.
  static let patienceBrief = 3.0
  static let residentBytesMax = 256 * 1_048_576

  // Sentinels
  /// How long a master is silent until a sentinel finds it dead: longer than a busy machine keeps it from answering.
  static let sentinelDownMs = 1_000
  /// A sentinel begins no failover within twice this after the last one.
  static let sentinelFailoverMsMax = 3_000
  /// How long they may take: they leave an old master what it thinks that it is for eight seconds.
  static let sentinelPatienceMs: UInt64 = 60_000
  /// How long a producer waits for a replica to have its job, before it adds that again.
  static let replicaMs = 50

  // Patience
  static let startMsMax: UInt64 = 20_000
  static let stopMsMax: UInt64 = 15_000
  /// How long an enqueue is tried again.
  static let enqueueMsMax: UInt64 = 120_000
  /// How long a load may take to finish after the last fault.
  static let drainMsMax: UInt64 = 240_000
  static let pollMs: UInt64 = 50
  static let retryMs: UInt64 = 50
  /// How long a slow disk may hold up a crash of Redis.
  static let diskPatienceMs: UInt64 = 10_000
  /// The largest file of /proc or log that is read whole.
  static let textBytesMax = 16 << 20
  static let logBlockBytes = 1 << 20
}
