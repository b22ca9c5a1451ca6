/// The numbers that a benchmark runs with, one home for all of them.
enum BenchLimits {
  static let pushesDefault = 300_000
  static let pushesMin = 10_000
  static let pushesMax = 10_000_000
  static let runsDefault = 3
  static let runsMax = 20
  /// Users named by one job.
  static let usersPerJobMax = 100_000
  /// Users of the job that opens connections and warms caches up before anything is measured.
  static let warmUpUsers = 2_000
  /// Imports that are on their way to Redis at a time.
  static let importsInFlight = 32
  /// One lane's connections to a network and the streams on each; h2load gets the same.
  static let connections = 2
  static let streams = 1_000
  /// FCM's allowance, so large that it holds nothing up.
  static let messagesPerMinute = 100_000_000
  /// Distinct paths that h2load uses in turn. It takes all of them apart before it starts: with one
  /// for each push that costs as much as the sending, and differs more from run to run.
  static let yardstickPathsMax = 10_000
  /// How often a campaign's records are looked at.
  static let pollMs: UInt64 = 20
  /// A campaign that takes longer has failed.
  static let campaignMsMax: UInt64 = 300_000
  static let startMsMax: UInt64 = 15_000
  static let stopMsMax: UInt64 = 10_000

  // Campaigns
  /// The answer time of the scenario `answer-time`, and its pushes: about five seconds of them.
  static let answerMs = 100
  static let answerTimePushesMax = 100_000
  /// APNs allows 4,096; the rest is for the members around the filling.
  static let largePayloadBytes = 4_000
  static let deadPercent = 10
  static let devicesPerUser = 5
  /// Pushes of h2load's request to a network that takes many: three chunks, as a worker's request usually carries.
  static let batchPushes = 768
  /// So many of them that their CPU time can be measured.
  static let batchRequests = 20_000
  /// Which part of a campaign counts as its steady part.
  static let steadyFrom = 0.2
  static let steadyTo = 0.8

  /// The campaign of the scenario `beside`, the high-priority jobs of one user a second, and what a run may take.
  static let besidePushesMin = 500_000
  static let besidePushesFull = 1_000_000
  static let besidePerSecond = 1_000
  static let besideSecondsMax = 30

  // Trouble
  static let retryAfterSeconds = 2
  /// The streams that many servers allow a connection.
  static let requestsPerConnection = 1_000
  /// Of the dice of trouble at random.
  static let troubleSeed = 47
  /// Requests of which one, at random, has its connection cut.
  static let requestsPerCut = 10_000
  /// Troubled answers in a row where trouble comes in bursts: fewer than open a breaker.
  static let troubleBurst = 50
  /// How long a troubled network takes for an answer. One that answers at once keeps all processors busy, and the ratio is then
  /// one of processor time, the simulator's included: it varied from 0.7 to 1.1 between runs of the same program.
  static let troubledAnswerMs = 20
  /// Pushes of a campaign to a troubled network.
  static let troubledPushesMin = 300_000
  /// Campaigns behind one another, to the same users. What is refused comes back after `retryAfterSeconds`: what is measured
  /// begins later, and lasts for longer.
  static let troubledCampaigns = 2
  /// Its last pushes wait for that and nothing else.
  static let troubledTo = 0.6
  /// How long a campaign to a troubled network is looked at.
  static let troubledSeconds = 20.0

  // Slow answers
  static let slowUsers = 60_000
  static let slowAnswerMs = 20
  static let slowPercent = 1
  static let slowSeed = 47
  static let lateMs = 5_000
  /// The part of the campaign that is measured: the slow ones are the rest.
  static let slowTo = 0.97
  static let slowSecondsMax = 60
  static let slowProbeMs: UInt64 = 50
  static let slowPollMs: UInt64 = 5
  static let lastPushCampaigns = 50

  // A rate
  /// The pushes that FCM takes a second in the scenario `rate`, and the quota that the configuration names: Google's usual one.
  static let rateTaken = 5_000
  static let rateMessagesPerMinute = 600_000
  /// Workers beside one another, from when on and for how long they are looked at: learning is not left out.
  static let rateWorkers = [1, 3]
  static let rateFromSeconds = 5
  static let rateSeconds = 20

  // Small jobs
  /// Jobs of the scenario `events`.
  static let smallJobs = 20_000
  /// The last of a backlog whose records are waited for.
  static let lastJobs = 100
  /// Jobs a second of the scenario `steady`, and for how long.
  static let steadyPerSecond = 1_000
  static let steadySeconds = 10

  // Distance
  /// A round trip to a Redis in the same region, and to one in the next.
  static let nearMs: UInt64 = 2
  static let farMs: UInt64 = 20
  /// Jobs of one user and of 100 users in the scenario `distance`.
  static let distanceJobs = 10_000
  static let distanceJobsOfHundred = 1_500
  /// For how long each of them is looked at, and how long the worker has before to find out.
  static let distanceSeconds = 5
  static let distanceSettleMs = 1_500
  static let proxySeed: UInt64 = 1

  // Large jobs
  /// High-priority jobs of one user a second beside a large job, from how long before it.
  static let besideLargePerSecond = 200
  static let beforeLargeMs: UInt64 = 500
  /// The time that its admission may take, and how often its record is looked at.
  static let largeSecondsMax = 20
  static let largePollMs: UInt64 = 5

  // Order
  /// Streams of each of the two connections and what an answer takes: 200 pushes a second.
  static let orderStreams = 5
  static let orderAnswerMs = 50
  static let orderPerSecond = 10
  static let orderSeconds = 20

  // Latency
  /// Jobs of the scenario `idle`, and the pause before each, which leaves the worker idle.
  static let idleJobs = 300
  static let idlePauseMs: ClosedRange<UInt64> = 10...40
  static let pushMsMax: UInt64 = 10_000
  /// How often the accept log is looked at.
  static let idlePollMicroseconds: UInt32 = 50
  /// Jobs of the scenario `priority`, the pause after each, and the bulk jobs waiting beside them.
  static let priorityJobs = 100
  static let priorityPauseMs: UInt64 = 100
  static let priorityBulkJobs = 2

  // Waiting
  /// Jobs of one user a second in the scenario `herd`, for how long, and the pause before, in which lanes come to rest.
  static let herdPerSecond = 100
  static let herdSeconds = 8
  static let restMs: UInt64 = 2_000
  /// For how long idle lanes are looked at.
  static let idleLanesMs: UInt64 = 10_000
  /// Workers of the scenario `due`, jobs that fall due at once, and what it may take to take them in before.
  static let dueWorkers = 10
  static let dueJobs = 10_000
  static let dueAfterMs: Int64 = 25_000
  static let dueMeasuredMs: UInt64 = 10_000

  /// The pace of the scenario `pace`, and for how long it holds a job back.
  static let pacedPerSecond = 1_000
  static let pacedSeconds = 30

  // Growth and memory
  static let growthSizes = [10_000, 100_000, 1_000_000]
  static let growthSizesFull = growthSizes + [10_000_000]
  static let growthPushes = 200_000
  static let backlogPushes = 1_000_000
  /// The calls that a watched Redis takes down, and how much of it: little, as its memory is measured too.
  static let notedCallMicroseconds = 2_000
  static let notedCallsMax = 500
  static let audienceUsers = 1_000_000
  static let audienceUsersFull = 10_000_000
  static let audienceInstallations = 100_000
  /// Users that one call adds to a topic.
  static let subscriptionsPerCall = 128

  // Tenants
  /// Apps of the scenario `tenants`, its lanes, and the pause before its second round.
  static let tenants = 1_000
  static let tenantsLanes = 2
  static let tenantsPauseMs: UInt64 = 8_000
  /// Apps of the scenario `apps`, how many of them are added to a worker that runs, and how many are put there at a time.
  static let appsInRedis = 10_000
  static let appsAdded = 5
  static let appsPutAtOnce = 100
  /// Keys of service accounts that they have between them.
  static let tenantAccounts = 64
  static let keyFileBytesMax = 64 << 10

  // Personal texts
  static let personalPushesMax = 100_000
  static let personalRunsMin = 11
  static let namesPerCommand = 1_000

  // Registration
  static let registrationsMax = 100_000
  /// Calls that are sent together.
  static let registrationsPerBatch = 64

  // Instructions
  /// Two campaigns; what start-up costs is the same in both, so that their difference is free of it.
  static let instructionsPushesFew = 10_000
  static let instructionsPushesMany = 110_000
  static let instructionsJobs = 10_000
  static let instructionsJobsAtOnce = 100
  /// The worker's time limits for an answer and a lease.
  static let patientSeconds = 60
  /// valgrind's processor is some 50 times slower.
  static let instructionsStopMsMax: UInt64 = 60_000

  /// The largest file of /proc or of h2load's report that is read.
  static let textBytesMax = 1 << 20
  /// The largest JSON file of an earlier run.
  static let reportBytesMax = 1 << 22
  /// The largest profile of callgrind's.
  static let profileBytesMax = 1 << 26
}
