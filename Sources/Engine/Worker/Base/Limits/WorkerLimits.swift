internal import PushpoolConfiguration

/// The limits of a lane.
enum WorkerLimits {
  /// Users whose bindings are read by one MGET.
  static let resolveBatchMax = 64
  /// Users of a batch where more than bindings is read: each of those reads is a trip of its own. And what a batch should
  /// bring at most, by what the job's batch before has brought.
  static let personalBatchMax = 256
  static let personalBatchMin = 8
  static let batchBindingsMax = 512
  static let batchValueBytesMax = 256 * 1024
  /// Tokens whose bindings are asked for together, a command each: far fewer than a connection takes (`RedisLimits`), for others
  /// ask by it, too.
  static let bindingsAskedMax = 1_024
  /// For how long a lane tells Redis at most what it knows after its drain time, while Redis is away.
  static let tellingMsMax: UInt64 = 10_000
  /// Chunks that a lane holds at a time, and how many when Redis is far away.
  static let runsMax = 32
  static let farRunsMax = 96
  /// Chunks besides that only wait for answers or for a connection: each has some 64 KiB, and nothing that others could use.
  static let lingeringRunsMax = 512
  /// Jobs besides that a lane sends from their entries at a time, and how many when Redis is far away: each of its three trips
  /// lasts longer.
  static let directRunsMax = 384
  static let farDirectRunsMax = 1_024
  /// The room for more of them that a lane waits for when it is full: they are taken in together.
  static let directRoomMin = 16
  /// The most of them taken in by one call, and how many when Redis is far away.
  static let directTakenMax = 128
  static let farDirectTakenMax = 256
  /// The most of them begun by one call: 2 ms.
  static let directBegunMax = 128
  /// The users of one: no more than bring a checkpoint on.
  static let directUsersMax = checkpointResults
  /// The pushes that may wait to be sent before no more of them are taken in, while no chunk wants room: what left in the last two of
  /// these spans, from `queuedPushesMax` on. What has not ended by `checkpointMs` costs more than a chunk would have.
  static let directPushesMax = 8_192
  static let directSpanMs: UInt64 = checkpointMs / 4
  /// Pushes that the jobs may come to which are taken in without room for them, on a lane that soon has some.
  static let directPushesMin = 64
  /// How long a lane waits at most that has no room for more.
  static let directPauseMs: UInt64 = 5
  /// How long such a job may be without what any other has in Redis; with some outcomes it is `checkpointMs`. Its entry's
  /// lease is not renewed meanwhile.
  static let directMsMax: UInt64 = 400
  /// The jobs sent from their entries that one call ends: 2 ms.
  static let directEndsMax = 64
  /// Chunks asked for by one claim, and how many when Redis is far away.
  static let claimMax = 4
  static let farClaimMax = 16
  /// A round trip to Redis that is shorter is as good as none.
  static let farNsMin: UInt64 = 700_000
  /// After so many spans without a look, what left before them says nothing any more.
  static let sampleSpansMax: UInt64 = 16
  /// The most that a lane has ready beyond what is enough for a Redis nearby.
  static let aheadPushesMax = 16_384
  /// A job's users whose bindings are read while it is being admitted.
  static let firstBindingsMax = 8
  /// The bytes that those bindings may hold: the chunk may be another lane's, and then they are kept for as long as the job is remembered.
  static let firstBindingsBytesMax = 8 * 1024
  /// The bytes that the bindings of a job may hold which is sent from its entry.
  static let directBindingsBytesMax = 32 * 1024
  /// How old those may be when its chunk is claimed.
  static let firstBindingsMsMax: UInt64 = 200
  /// A request's body in which texts are filled in; what networks take is smaller.
  static let filledBodyBytesMax = 64 * 1024
  /// A rendering that says how much of the job's life is left is made anew when it is older.
  static let renderingAgeMsMax: Int64 = 30_000
  /// Of those that were made anew, how many are kept for one destination and text: each lasted `renderingAgeMsMax`, and
  /// together they outlast the longest request by two.
  static let retiredMessagesMax =
    ConfigurationLimits.requestTimeoutSecondsMax * 1_000 / Int(renderingAgeMsMax) + 2
  /// Languages of installations that a lane remembers the text of, of one job.
  static let languagesKnownMax = 64
  /// Jobs taken in for admission at a time; each may be up to `Limits.jobBytesMax`.
  static let admissionsMax = 2
  /// The text of a job that is read at once. A longer one takes milliseconds, for which nothing else would happen.
  static let smallJobBytesMax = 16 * 1024
  /// Blocks of memory that the system gets back as soon as they are free, and the text of a job that takes many smaller
  /// ones.
  static let returnedBlockBytesMin = 256 * 1024
  /// How often free memory is looked for after such a job.
  static let memoryReturnMs: UInt64 = 1_000
  /// The text of jobs that wait for another to be admitted, beyond which a lane leaves large ones to others. One may wait whatever
  /// it has, up to `Limits.jobBytesMax`.
  static let largeJobsWaitingBytesMax = 1024 * 1024
  /// How often the lanes of a process that have so many look for small ones.
  static let besideLargeMs: UInt64 = 10
  /// The text of several segments that is told with a job's admission; more of it is uploaded first. An only segment is always
  /// told.
  static let admittedSegmentsBytesMax = 16 * 1024
  /// Small jobs that are admitted in a trip: 1 ms, for what others ask Redis waits behind them.
  static let admittedAtOnceMax = 16
  /// Jobs that are refused or left to others in a trip.
  static let turnedAwayAtOnceMax = 32
  /// Segments of one that are uploaded in a trip to a Redis nearby: 1 ms, for what the lane asks next waits behind them.
  static let uploadedAtOnceMax = 16
  /// Answers lost in a row after which Redis is asked what it gave with them.
  static let lostAnswersMax = 3
  /// Entries that are no jobs and are named in the log, of those found at a time; the others are counted.
  static let refusalsLogged = 4
  /// Pushes that may be resolved and not finished, beyond what the connections can carry.
  static let queuedPushesMax = 512
  /// Requests of several pushes each that a destination may fill besides.
  static let batchesFilledMax = 2
  /// How long a push may wait for others to leave in the same request.
  static let batchWaitMs: UInt64 = 50
  /// Results of pushes that bring a checkpoint on.
  static let checkpointResults = 100
  /// Dead tokens in a settlement, beside those of one more user and doubtful ones: each takes Redis 60 to 100 µs.
  static let settledDeadMax = 16
  /// How long results wait for a checkpoint, half of it for those of the same user's other devices.
  static let checkpointMs: UInt64 = 200
  /// How long pushes that are tried later wait for others of their chunk, to come back together.
  static let postponedMsMax: UInt64 = 1_000
  /// How old a binding may be when it is sent to; older ones are read again, so that a
  /// former owner stops receiving within a second (docs/reference/guarantees.md, promise 4).
  static let bindingAgeMsMax: UInt64 = 800
  /// The part of it that reading a binding may take. Of a Redis so far away that it takes longer, a binding is as fresh as it
  /// can be when it arrives, and older than the limit by the rest.
  static let bindingReadMsMax: UInt64 = 400
  /// Times that one push is sent again at once because the network surely did not process it.
  static let resendsMax = 8
  /// Times that one push is sent again at once after the network refused its stream.
  static let refusalsMax = 1
  /// Times that one push is sent again at once after the network refused its credential, and accepted it of others.
  static let isolatedRefusalsMax = 2
  /// Pushes of a destination that wait to be tried apart.
  static let apartPushesMax = 64
  /// Requests on one connection that were tried apart and called malformed, nothing good between them, after which another is opened.
  static let apartRefusalsMax = 8
  /// Longest pause before the connection that these are tried on is opened again: each of them may cost it. Far below
  /// `Quarantine.lifeNs`, or a job would be out of quarantine before its next push is tried.
  static let apartReconnectMsMax: UInt64 = 5_000
  /// How long after an answer a network is taken to be well: what it then refuses is the push's trouble.
  static let answeringMs: UInt64 = 10_000
  /// How long a push is put aside when it was refused that often without being processed.
  static let refusedDelayMs: UInt64 = 1_000
  /// Requests in flight to a destination whose network has not accepted anything yet.
  static let untriedRequestsMax = 32
  /// For how long it is an alarm that one connection of several was bad.
  static let badConnectionAlarmNs: UInt64 = 60_000_000_000
  /// How long a push waits at least that something else than its network has answered.
  static let foreignDelayMs: UInt64 = 2_000
  /// How long a destination may have no connection before what waits for it takes no room from others; how many pushes wait
  /// then, how many of all such destinations, but for one of each, and how long the others are put aside. Each may be a chunk.
  static let outOfTouchMs: UInt64 = 1_000
  static let outOfTouchQueueMax = 64
  static let silentQueuesMax = lingeringRunsMax / 2
  static let outOfTouchDelayMs: UInt64 = 2_000
  /// The time between two chunks that a lane puts aside whole and that come back, and how long one is away at most. Each costs
  /// Redis some 0.15 ms: a claim, a hand-back and a line of its trace.
  static let returnGapNs: UInt64 = 10_000_000
  static let returnMsMax: UInt64 = 30_000
  /// How long a destination may have no connection before its work is put aside.
  static let unreachableMs: UInt64 = 15_000
  /// How long pushes may wait for a destination that is connected and answers nothing at all, before
  /// they are put aside: the lane's room is for the others, too.
  static let unansweredMs: UInt64 = 2_000
  /// How many pushes wait from then on until something is answered, and how long the others are put aside: what waits is sent as
  /// soon as there is room, and so tells that the network is well again. Few, for each may be of another chunk.
  static let unansweredQueueMax = 16
  static let unansweredDelayMs: UInt64 = 1_000
  /// For how long a destination that answered nothing is an alarm, unless it is tried again in vain.
  static let stuckMs: UInt64 = 60_000
  /// For how long work is put aside while its destination cannot be reached or has no credential.
  static let parkedDelayMs: UInt64 = 10_000
  /// The part of the memory that a control group allows from which on there is an alarm.
  static let memoryAlarmPercent = 90
  /// Apps that are left out, of which each has an alarm, and a line in the log as the worker starts.
  static let leftOutAlarmsMax = 16
  static let leftOutLoggedMax = 100
  /// Apps that are left out and are tried again at a time, while the configuration that is there is refused.
  static let leftOutTriedMax = 100
  /// How often changes of the apps of Redis are asked for.
  static let redisAppsLookMs: UInt64 = 1_000
  /// For how long they cannot be read before that is an alarm, and before a worker that starts goes without them.
  static let redisAppsPatienceMs: Int64 = 30_000
  /// With more apps than these no name is suggested for one that nobody has: 10 ms for each question.
  static let suggestedAmongMax = 1_000
  /// The wait between two looks at the configuration's files, and at how many of them while nothing has changed: 12 ms.
  static let filesLookMs: UInt64 = 1_000
  static let filesLookedAtMax = 8_192
  /// The same wait where there are fewer files than these: 3 ms of a second. With the time that files have to lie still a change
  /// holds within a second then.
  static let fewFilesLookMs: UInt64 = 500
  static let fewFilesMax = 1_000
  /// How soon files that have changed are looked at again, and for how long at most before they are read while they go on
  /// changing.
  static let filesSettleMs: UInt64 = 300
  static let filesUnrestMsMax: Int64 = 5_000
  /// How many times as long as a load took no file is looked at afterwards, unless somebody asks: so that loading takes a
  /// fifth of a core at most.
  static let loadRest: UInt64 = 4
  /// How soon a configuration that is refused, or has an app that is left out, is loaded again although none of its files has
  /// changed: the cause may have been a passing one, such as a want of descriptors.
  static let loadAgainMs: Int64 = 60_000
  /// How long a worker that ends waits for the thread that reads its configuration, which a file system may hold up for ever.
  static let keeperEndMs: UInt64 = 3_000
  /// Names of each kind, such as added apps, in the log's line about another configuration.
  static let diffNamesMax = 20
  /// For how long a push is put aside that comes to a destination which the configuration has no more.
  static let retiredDelayMs: UInt64 = 250
  /// The wait between two looks at what is switched off, of all lanes of a process together.
  static let switchesMs: UInt64 = 400
  /// How long one lane of a process may ask for all, before another asks.
  static let switchesAskedMs: UInt64 = 200
  /// The wait of a lane for the answer of another, between two looks.
  static let switchesSoonMs: UInt64 = 50
  /// The greatest age of what a lane knows of the switches when it takes up work or reads bindings.
  static let switchesAgeMsMax: UInt64 = 1_000
  /// How long pushes of a network are set aside that is switched off, and those to a user.
  static let stoppedDelayMs: UInt64 = 3_000
  /// How long a chunk whose whole app or bucket is off stays away at least.
  static let stoppedChunkDelayMs: UInt64 = 1_000
  static let stoppedUserDelayMs: UInt64 = 30_000
  /// The most that a lane draws from a rate at a time: what the rate brings in so many ms.
  static let allowanceMs: UInt64 = 50
  /// How long what was drawn may be used: a lane that is held up must not send it later in one burst.
  static let allowanceLifeMs: UInt64 = 500
  /// How long what waits for a rate may be: what the rate brings in this time, within bounds. Beyond it
  /// nothing more is resolved, and beyond twice as much pushes are set aside.
  static let limitedQueueMs: UInt64 = 250
  static let limitedQueueMin = 64
  static let limitedQueueMax = 2_048
  /// How long pushes and chunks are set aside that would only wait for a rate.
  static let limitedDelayMsMin: UInt64 = 1_000
  static let limitedDelayMsMax: UInt64 = 10_000
  static let limitedPlaceDelayMsMin: UInt64 = 250
  /// Chunks of an app that wait for its rate on one lane; the lane's other places are for other apps.
  static let limitedRunsMax = 4
  /// Jobs of an app with a lower rate than this that a lane sends from their entries: what the rate brings the fleet in this time,
  /// within bounds. Should all of them become chunks of the lane, it still has places for others.
  static let limitedDirectRateMax = 1_000.0
  static let limitedDirectMs: UInt64 = 100
  static let limitedDirectMin = runsMax / 4
  static let limitedDirectMax = runsMax * 3 / 4
  /// How soon a lane that takes in as much as it can looks again for jobs that silent workers left.
  static let abandonedLookMs: UInt64 = 250
  /// Jobs that a lane remembers, rendered: all that it takes in at a time, and those whose chunks it has or waits for. What it has
  /// forgotten it asks Redis for. How many there are when they are large, and what all may come to before they are: their
  /// contents, one for each language, and the bindings that come with them.
  static let materialsMax = 512
  static let largeMaterialsMax = 64
  static let materialBytesMax = 1024 * 1024
  /// Longest wait of an idle lane before it looks again by itself.
  static let idleMsMax: UInt64 = 1_000
  /// Longest wait of a lane that is idle until it is woken.
  static let idleLaneMsMax: UInt64 = 10_000
  /// The wait between two looks at the streams while no lane is idle.
  static let busyWatchMs: UInt64 = 5
  /// How long entries are left to come together once one has woken a lane.
  static let gatherMs: UInt64 = 4
  /// How long lanes may take work by themselves before those who watch the streams pass over it. What is told of in vain
  /// meanwhile costs a look, and what has ended is not told of.
  static let passMs: UInt64 = 50
  /// Delayed chunks promoted by one call: 2 ms.
  static let promotionsMax = 64
  /// The wait between two looks at the delayed set.
  static let promoteMsMax: UInt64 = 250
  /// Chunks of lost workers taken over by one call.
  static let reclaimsMax = 4
  /// A chunk that so many workers were lost with may be poison: a process carries one such chunk at a time.
  static let poisonCrashesMin = 2
  /// For so long; what kills a worker does so at once.
  static let poisonAloneMs: UInt64 = 5_000
  /// How long another waits then before it is looked at again.
  static let poisonPauseMs: UInt64 = 1_000
  /// The wait after a command to Redis failed.
  static let redisPauseMs: UInt64 = 250
  /// How often the leases of chunks without news are renewed and their jobs' states asked for: with a quarter more at most,
  /// a chunk hears of a cancel within a second.
  static let chunkBeatMs: UInt64 = 650
  /// Of them, as many by one call: small jobs that last have become chunks of a lane by the hundred.
  static let renewedMax = 256
  /// The wait between two looks for jobs that lost chunks, on average; each looks at a few jobs.
  static let reconcileMs: UInt64 = 60_000
  /// From one look whether the functions for registration are there to the next.
  static let registrationMs: UInt64 = 10_000
  static let reconciledJobsMax = 32
  /// How soon after the first request to stop another is taken for the same one.
  static let secondStopMs: Int64 = 1_000
  /// How long consumers of workers that are gone are kept.
  static let consumerIdleMs: UInt64 = 600_000
  /// From one look at the producers' streams to the next, half or one and a half times of it.
  static let streamLookMs: UInt64 = 5_000
  /// How often an alarm is renewed, and how long it stands without.
  static let alarmRenewalMs: UInt64 = 5_000
  static let alarmLifeMs: UInt64 = 15_000
  /// Slices of the bindings that a worker compares in a turn of its janitor: 6 ms of Redis's time a minute.
  static let mendedSlicesMax = 20
  /// From one look how Redis is set up to the next.
  static let redisLookMs: UInt64 = 60_000
  /// How soon the same is said again of sentinels that do not agree.
  static let remarkAgainMs: UInt64 = 3_600_000
  /// How soon something else is.
  static let remarkOtherwiseMs: UInt64 = 60_000
  /// How many of the last sentences are known again.
  static let remarksMax = 4
  /// Jobs that ended last, by which it is told how long records are kept.
  static let endedLookedMax = 100
  /// How long a worker that starts waits for Redis, to look how it is set up before it begins.
  static let redisFirstLookMs: UInt64 = 1_000
  /// How long it waits for the apps of Redis while they are read, slow as that may be.
  static let redisAppsWaitMs: UInt64 = 120_000
  /// How long it is told of that Redis has evicted keys.
  static let evictedToldMs: UInt64 = 3_600_000
  /// How far a machine's clock may be from Redis's without an alarm.
  static let clockDifferenceMsMax: Int64 = 30_000
  /// How often the log tells of certificates that have expired or soon will, and of how many: the alarms have room for more.
  static let certificateLogMs: Int64 = 86_400_000
  /// How often the log says of a destination that it has no credential, while the reason is the same.
  static let credentialLogMs: Int64 = 60_000
  static let certificateAlarmsMax = 64
  /// Descriptors of a lane without its connections to the networks: its loop's two, and two to Redis.
  static let laneDescriptors = 4
  /// Descriptors of the process: its outputs, signals and log, look-ups, keys, and the exchange of tokens.
  static let processDescriptors = 64
  /// With fewer nothing starts: Swift's own parts end the process.
  static let descriptorsMin = 24
  /// Connections of a process to its networks beyond which those that are idle are closed, the least recently used first.
  /// Each takes some 50 KiB.
  static let connectionsKeptMax = 4_096
  /// For how long a want of descriptors is an alarm, and connections are kept few.
  static let shortageMs: UInt64 = 60_000
  /// Threads that a worker must be able to make beside its lanes and Swift's, for look-ups and token exchanges.
  static let spareThreads = 4
  /// How often a worker says which routes it has, how often while others have other ones, whose work may be left to it at any
  /// time, and how often while work waits for a route.
  static let routesMs: UInt64 = 1_000
  static let routesUnequalMs: UInt64 = 100
  static let routesBusyMs: UInt64 = 250
  /// Jobs that waited for a route and are taken in together.
  static let routedJobsMax = 8
  /// How soon a token that its network called bad is tried again while it is not known whether another worker has credentials
  /// for its other environment.
  static let routesUnknownMs: UInt64 = 2_000
  /// Between two tellings of where apps live that nothing has changed of.
  static let placementMs: Int64 = 300_000
  /// How long after a change workers may be there that go by the configuration of before and take back what is said, and between
  /// two tellings as long.
  static let placementNewMs: Int64 = 600_000
  static let placementSoonMs: Int64 = 10_000
  /// Between two looks whether that has changed.
  static let placementLookMs: UInt64 = 1_000
  /// The wait for a Redis, to see whether it is the shard that is meant.
  static let shardLookMs: UInt64 = 1_000
  /// For how long it is believed where an app of Redis can be sent to: somewhat longer than it takes to ask again.
  static let sharedRoutesMs: Int64 = 5_000
  /// Apps that wait to be looked up: as many as a worker has, which asks about its own alone. So none keeps another from being
  /// asked about.
  static let sharedRoutesAskedMax =
    ConfigurationLimits.appsMax + ConfigurationLimits.redisAppsMax
  /// How many of them one command looks up.
  static let sharedRoutesAtOnce = 256
  /// Worker beats.
  static let beatMs: UInt64 = 1_000
  /// How often a beat tells the figures for monitors as well, and how many bytes they are at most.
  static let figuresMs: UInt64 = 5_000
  static let figuresBytesMax = 4_096
  /// The buckets in which it is counted how long a lane took to answer, in microseconds.
  static let lagBoundsUs: [UInt64] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    5_000_000,
  ]
  /// How long the time zones of the system are believed: updates of tzdata come a few times a year.
  static let timeZonesSeconds = 3_600
  static let timelineMs: UInt64 = 10_000
  // What is recorded for `pushpool trace`
  /// How long events wait to be sent, at most.
  static let traceFlushMs: UInt64 = 200
  /// Events of one job that are sent at once, rather than wait.
  static let traceBatchBytes = 16 * 1024
  /// Events of one job that wait for Redis; beyond it they are dropped and counted.
  static let traceBufferBytesMax = 64 * 1024
  /// Batches that Redis has not answered for.
  static let traceBatchesMax = 64
  /// Events alike (the same decision for the same cause) that a lane records of one job, unless the job asks
  /// for all; those beyond it are counted.
  static let tracedAlikeMax = 10_000
  /// Events alike that end no push: retries, resendings, and what is put aside. A network in trouble makes one of each push
  /// that it refuses, and an accept behind it: Redis kept 40 MB of both for ten jobs to 100,000 users.
  static let tracedUnderwayMax = 2_000
  /// Accepts alike: more, because an event whose end is not recorded is worse than none.
  static let tracedAcceptsMax = 2 * tracedUnderwayMax
  /// How often it is recorded how many those were.
  static let traceOmittedMs: UInt64 = 10_000
  /// How long a lane that ends waits for Redis to take its last events.
  static let traceFinishMs: UInt64 = 1_000
  /// Of what is logged about the end of a connection.
  static let connectionEndBytesMax = 200
  /// Reasons of rejections remembered per lane for the log.
  static let reasonsMax = 64
}
