/// The limits of the store; those that the functions enforce stand in Functions/Library/limits.lua.
package enum StoreLimits {
  /// Installations of one `importBatch`: 2 ms of Redis' time, or 5 for users with as many as they may have.
  package static let importBatchMax = 64
  /// The longest name of a `maxmemory-policy` that is believed.
  static let policyBytesMax = 32
  /// Channels of the installations of one `importBatch`, of which the last may have more: 20 µs each.
  package static let importChannelsMax = 64
  /// How long the record of a job is kept that says nothing else.
  package static let recordSeconds = 604_800
  /// Bytes of the record of a one-user job that has ended, with its key, its place among the keys and its expiry.
  package static let recordBytes = 338
  /// Over how long the jobs that end are counted to tell of a second: long enough to be no burst, and a day at most.
  static let endedSpanMsMin: Int64 = 1_800_000
  static let endedSpanMsMax: Int64 = 86_400_000
  /// The largest figure that a forecast of memory goes by, so that its figures fit an Int.
  static let forecastFigureMax = 1e12
  /// The share of its memory beyond which Redis is told to get full.
  static let forecastShareMax = 0.9
  /// About how many entries the bounded streams keep.
  static let noticesMax = 100_000
  /// Users in a block of an index: Redis keeps up to 128 in one string.
  static let indexBlockMax = 120
  /// Keys that one page of a `KeyWalk` looks at.
  static let walkedAtOnce = 200
  /// Subscriptions of one `subscribe`: 1 ms of Redis's time.
  package static let subscriptionsMax = 128
  /// Sizes of topics and channels that one call reads.
  static let sizesPageMax = 500
  /// Calls that read sizes, for five million of them.
  static let sizePagesMax = 10_000
  /// Users of one `resolve`; a chunk has fewer.
  package static let resolveUsersMax = 1_024
  /// Bytes around a user's id in a `resolve`: room to make.
  static let userKeyBytesUsual = 48
  /// Values that one `fields` reads: some 0.3 ms of Redis's time.
  package static let fieldValuesMax = 256
  /// Installations of one `badges`: 1 ms of Redis's time.
  package static let badgesMax = 128
  /// How much longer a configuration is kept in Redis than work waits for a worker.
  static let routesSpareSeconds: UInt64 = 120
  /// Apps whose routes one command says: 0.2 ms of Redis's time.
  static let routesWrittenAtOnce = 250
  /// Configurations of workers that are looked at: ROUTE_DIGESTS_MAX in Functions/Library/limits.lua.
  static let routeTablesMax = 128
  /// Apps and routes that no worker has and that are asked for: ROUTES_WAITED_FOR_MAX there.
  static let routesWaitedForMax = 1_000
  /// Each worker says more often which routes it has: ROUTE_ALIVE_MS there.
  static let routesAliveMs: Int64 = 5_000
  /// Segments uploaded between two renewals of the job's lease.
  package static let uploadSegmentsMax = 256
  /// Job text that one `take` brings: no further job is taken beyond it.
  package static let takenBytesMax = 1024 * 1024
  /// Bytes of an entry's text that are read to tell somebody of it: to connect anew costs Redis less than to send more.
  static let signBytesMax = 512 * 1024
  /// How long the connection for signs is waited for: meanwhile lanes look for work by themselves.
  static let signReadyMs: UInt64 = 1_000
  /// Entries that one step of a search for a waiting job reads where some may be large, and their bytes.
  static let searchedMax = 256
  static let searchedBytesMax = 1024 * 1024
  /// Entries of one app that a lane tells the fleet of when it has read ahead: one more than the functions list.
  static let toldAheadPerApp = 17
  /// Bytes of a job's beginning and end that are searched for its app.
  static let glanceBytes = 4096
  /// A dead letter's larger original is kept beside it.
  static let letterBytesMax = 16 * 1024
  /// Dead letters that a plain read takes at a time, while they are small.
  static let lettersAtOnce = 32
  /// How often a retry of a large letter begins anew because somebody changed what it looked at.
  static let largeRetriesMax = 3
  /// A job of more bytes is added without its name being looked at: a function has to read it as a whole.
  static let submittedBytesMax = 256 * 1024
  /// Notices of jobs that ended: read at a time, and looked at to find those of one app.
  static let endedAtOnce = 1_000
  package static let endedLookedMax = 10_000
  /// How long the name that a submission took lives while no worker has the job. Beyond it the name is taken when a worker takes
  /// the job in, as that of a job that was added by XADD.
  static let submittedNameSeconds = 86_400
  /// How long the departures of one `departed` key are told, at least; and twice as long at most.
  static let departedMs: Int64 = 302_400_000
  /// Tokens and users of one `departed` key. With more of them it is told of the last only.
  static let departedMax = 40_000
  /// Bytes of a token by which its departures are told: those of FCM have some 160, and may have 4,096.
  static let departedTokenBytesMax = 512
  /// How long a refused job's text stays that never becomes a dead letter's original.
  static let letterCopySeconds = 600
  /// Counts that one step of a reading of the totals asks for: 0.5 ms of Redis's time.
  static let totalsPage = 1_000
  /// Steps of one reading of the totals: a million counts.
  static let totalsPagesMax = 1_000
  /// Workers whose fields are read in one trip, and open jobs: 1 ms of Redis's time.
  static let readAtOnce = 256
  /// Minutes whose counts are read in one trip.
  static let chartedAtOnce = 60
  /// The longest name of an outcome that is believed.
  static let outcomeBytesMax = 32
  /// Calls that reconcile one job, each for some 200 of its chunks.
  static let reconcilePagesMax = 10_000
  /// How long ago an entry's id may say that it was added, to be believed: as long as segments are kept.
  static let entryAgeMsMax: Int64 = 30 * 86_400_000
  /// Switches that are honoured at a time; more are refused, and complained of.
  package static let switchesMax = 1_000
  /// Fields looked at when there are more: SWITCHES_LOOKED_MAX in Functions/Library/limits.lua.
  static let switchesLookedMax = 3_000
  /// Bytes that are kept of why something was switched off.
  package static let switchReasonBytesMax = 512
  /// Keys of the HTTP API.
  package static let accessKeysMax = 1_000
  // Apps in Redis
  /// A file with a key of 32 bytes in Base64 has 45.
  static let appKeyFileBytesMax = 1_024
  /// The name of such a key, and of a change of an app.
  static let appKeyIDDigits = 16
  static let appRevisionDigits = 16
  /// An app's record: a form and up to a dozen secrets.
  package static let appRecordBytesMax = 160 * 1024
  /// About how many of them one page has, and one call reads: 0.3 ms of Redis's time when they are small.
  package static let appsPage = 64
  /// Changes that one call reads. Redis keeps more: APP_CHANGES_KEPT in Functions/Library/limits.lua.
  static let appChangesAtOnce = 256
  /// Bytes of an act's verb and app, and of each of its other texts.
  package static let actWordBytesMax = 64
  package static let actTextBytesMax = 512
  /// Acts of one `ActStore.page`, each of 2 KiB at most.
  package static let actPageMax = 500
  /// Bytes that a trace keeps of a network's reason.
  package static let traceReasonBytesMax = 64
  /// The longest that a lane waits before it asks for more of a rate; the functions say at most a second.
  static let rateRetryMsMax: UInt64 = 10_000
  /// The longest that a lane waits for jobs that are held back, whatever Redis says; the functions say 20 ms.
  static let heldBackMsMax: UInt64 = 1_000
  /// Attempts that a line of a segment may tell of: with the next one they fit a byte.
  static let attemptsToldMax: UInt64 = 254
  /// Events that one line of a trace may stand for, so that the sum of a whole trace fits an Int.
  static let traceCountMax: UInt64 = 1 << 32
  /// Entries of one `TraceStore.page`; each is at most `WorkerLimits.traceBufferBytesMax` and a line.
  package static let tracePageMax = 128
}
