import LocalServices
import Model
import Stage

/// Row 30: the configuration that all workers share is rewritten again and again under load, also by files that have to be
/// refused. Pushes go on, and the app that never changes keeps its connections and its delivery times.
struct ReloadRow: MatrixRow {
  let number = 30
  let fault = "configuration rewritten under load, also wrongly"

  private static let rewrites = 100
  /// The first, each kind once, and a good file after each broken one.
  private static let rewritesMin = 12
  private static let smallJobs = 1_000
  private static let smallJobsMin = 30
  private static let smallJobsPauseMs: UInt64 = 200
  /// How long the load has to stand, and how long deliveries are timed then before the first rewrite.
  private static let settlingMs: UInt64 = 2_000
  private static let calmMs = 60_000
  private static let calmMsMin = 4_000
  private static let workers = 3
  /// How long it may take until all workers tell of a rewrite: they look twice a second, and tell each second.
  private static let limitSeconds = 10.0
  private static let patienceMs: UInt64 = 60_000
  /// Jobs to an app, so that each worker opens all connections that it may have.
  private static let burstsMax = 10
  private static let unchanged = Crowd(app: "other", count: 4_000, userPrefix: "o")
  private static let coming = Crowd(
    app: ConfigurationContent.comingApp, count: 100, userPrefix: "n")
  private static let tenant = Crowd(app: TenantCommands.app, count: 100, userPrefix: "t")
  /// Each of its users gets one job.
  private static let onFCM = Crowd(
    app: ConfigurationContent.accountApp, count: 4_000, userPrefix: "p", network: .fcm)

  func run(_ trial: Trial) async throws -> RowResult {
    var options = StageOptions(users: trial.users, workers: 0)
    options.otherApps = [Self.unchanged.app, Self.coming.app]
    options.fcmApps = [Self.onFCM.app]
    options.hasSecondKeys = true
    options.hasTenants = true
    // Longer than an app is ever away.
    options.unroutedSeconds = 600
    // Nothing of this row ends a lease, or has a request wait: on a busy machine these limits do not either.
    options.leaseSeconds = 60
    options.requestTimeoutSeconds = 30
    let rewrites = trial.scaled(Self.rewrites, atLeast: Self.rewritesMin)
    let limitSeconds = trial.limit(Self.limitSeconds)
    var result = RowResult(number, fault)
    try await ChaosStage.with(trial, options) { stage in
      for crowd in [Self.unchanged, Self.coming, Self.tenant, Self.onFCM] {
        try await stage.install(crowd)
      }
      let started = try await ConfigurationRewriter.start(
        stage, workers: Self.workers, limitSeconds: limitSeconds)
      let before = try await Self.openConnections(stage)
      let course = try await Self.rewrite(rewrites, started, stage)
      let rewriter = course.rewriter
      let after = try await Self.openConnections(stage)
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = rewriter.tally.rewrites
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
      result.noteRecovery(rewriter.tally.takenSeconds)
      result.expectRecovery(within: limitSeconds)
      if let failure = rewriter.tally.failure { result.fail(failure) }
      result.note(rewriter.tally.sentence)
      result.note(try Self.rate(course, stage))
      try Self.judgeTimes(course, stage, &result)
      try await Self.judgeFleet(rewriter, limitSeconds, stage, &result)
      try await Self.judgeConnections(before, after, rewriter, limitSeconds, stage, &result)
    }
    return result
  }

  // MARK: Load

  /// The rewrites, and the jobs to the app that never changes which were enqueued beside them.
  private struct Course: Sendable {
    let rewriter: ConfigurationRewriter
    let starts: DeliveryTimes.Starts
    /// The times before the first rewrite, and from then until all workers told of the last, in epoch milliseconds.
    let calm: Range<Int64>
    let busy: Range<Int64>
  }

  /// Rewrites the configuration beside campaigns of the first app and jobs of one user each of all apps. These begin a while
  /// before.
  private static func rewrite(
    _ count: Int, _ started: ConfigurationRewriter, _ stage: ChaosStage
  ) async throws -> Course {
    try await stage.underLoad { stage in
      let isOver = Notice()
      let jobs = Task { try await enqueueSmallJobs(stage, until: isOver) }
      defer { jobs.cancel() }
      stage.trial.say("deliveries before the first rewrite")
      try await ChaosStage.pause(ms: settlingMs)
      let calmStartMs = EpochClock.nowMs()
      try await ChaosStage.pause(ms: stage.trial.scaledMs(calmMs, atLeast: calmMsMin))
      let busyStartMs = EpochClock.nowMs()
      var rewriter = started
      try await rewriter.rewrite(times: count)
      try await rewriter.finish()
      let busyEndMs = EpochClock.nowMs()
      isOver.raise()
      // Clocks may be set back meanwhile.
      return Course(
        rewriter: rewriter, starts: try await jobs.value,
        calm: calmStartMs..<max(calmStartMs, busyStartMs),
        busy: busyStartMs..<max(busyStartMs, busyEndMs))
    }
  }

  /// Enqueues jobs all the while, also of apps that nobody has then: they wait for them.
  /// - Returns: when those to the app that never changes were enqueued.
  private static func enqueueSmallJobs(
    _ stage: ChaosStage, until isOver: Notice
  ) async throws -> DeliveryTimes.Starts {
    let crowds = [stage.crowd, unchanged, coming, tenant, onFCM]
    let least = stage.trial.scaled(smallJobs, atLeast: smallJobsMin)
    var starts: DeliveryTimes.Starts = [:]
    var count = 0
    var userOnFCM = 0
    while !isOver.isRaised || count < least {
      for crowd in crowds {
        var user = count % crowd.count
        if crowd.app == onFCM.app {
          guard userOnFCM < crowd.count else { continue }
          user = userOnFCM
          userOnFCM += 1
        }
        let startMs = EpochClock.nowMs()
        let entry = try await stage.enqueue(user..<user + 1, to: crowd)
        if crowd.app == unchanged.app { starts[entry.number] = startMs }
        count += 1
      }
      if !isOver.isRaised { try await ChaosStage.pause(ms: smallJobsPauseMs) }
    }
    return starts
  }

  private static func rate(_ course: Course, _ stage: ChaosStage) throws -> String {
    let count = try AcceptLogFile.accepts(within: course.busy, stage.acceptLog)
    let seconds = max(1, (course.busy.count + 500) / 1_000)
    return "\(count) pushes were accepted in \(seconds) s of rewrites, \(count / seconds) a second"
  }

  private static func judgeTimes(
    _ course: Course, _ stage: ChaosStage, _ result: inout RowResult
  ) throws {
    let accepts = try AcceptLogFile.firstAccepts(of: Set(course.starts.keys), stage.acceptLog)
    let times = DeliveryTimes(
      course.starts, accepts: accepts, before: course.calm, during: course.busy)
    result.note("the app that never changed, \(times.sentence)")
    if let failure = times.failure(isLimited: stage.trial.isFullSize) {
      result.fail("the app that never changed: \(failure)")
    }
  }

  // MARK: Connections

  private static func connectionsMax(_ options: StageOptions) -> Int {
    workers * options.lanes * options.connections
  }

  /// Has the app that never changes send so much at a time that workers open all connections that they may have.
  /// - Returns: the connections that its pushes have come by so far.
  private static func openConnections(_ stage: ChaosStage) async throws -> Set<Int> {
    var found: Set<Int> = []
    for _ in 1...burstsMax where found.count < connectionsMax(stage.options) {
      let entry = try await stage.enqueue(0..<unchanged.count, to: unchanged)
      _ = try await stage.eventually(patienceMs) {
        try await stage.session.record(app: entry.app, id: entry.id)?.state.isFinal == true
          ? true : nil
      }
      found = try AcceptLogFile.connections(
        of: unchanged.app, stage.ledger.entries, stage.acceptLog)
    }
    return found
  }

  private static func judgeConnections(
    _ before: Set<Int>, _ after: Set<Int>, _ rewriter: ConfigurationRewriter,
    _ limitSeconds: Double, _ stage: ChaosStage, _ result: inout RowResult
  ) async throws {
    let most = connectionsMax(stage.options)
    result.expect(
      after.count <= most,
      "the app that never changed used \(after.count) connections, \(before.count) before the first rewrite; "
        + "with none closed there are \(most) at most")
    let counters = try await stage.simulator.counters()
    let refusals = counters.answers.filter { $0.key != 200 }
    result.expect(counters.violations == 0, "\(counters.violations) streams too many")
    result.expect(refusals.isEmpty, "the networks did not accept all: \(refusals)")
    // Three apps at first, and each time that an app came or was sent to otherwise. And each token of FCM is fetched over one.
    let openedMax = most * (3 + rewriter.tally.renewals) + counters.bearerTokensIssued
    result.expect(
      counters.connectionsOpened <= openedMax,
      "\(counters.connectionsOpened) connections were opened, at most \(openedMax) are explained")
    // Of five apps, and what a worker fetches tokens over.
    let openMax = most * 5 + workers
    let isClosed = try await stage.eventually(UInt64(limitSeconds * 1_000)) {
      try await stage.simulator.counters().connectionsOpen <= openMax ? true : nil
    }
    result.expect(isClosed != nil, "more than \(openMax) connections are open at the end")
    result.note(
      "connections of the app that never changed: \(before.count) before, \(after.count) in all; "
        + "opened by all apps: \(counters.connectionsOpened), at most \(openedMax) explained")
  }

  // MARK: Fleet

  private static func judgeFleet(
    _ rewriter: ConfigurationRewriter, _ limitSeconds: Double, _ stage: ChaosStage,
    _ result: inout RowResult
  ) async throws {
    let workers = try await ConfigurationReport(stage.session).workers
    result.expect(workers == rewriter.workers, "the workers are not those that were started")
    let isQuiet = try await stage.eventually(UInt64(limitSeconds * 1_000)) {
      try await stage.session.configurationAlarms().isEmpty ? true : nil
    }
    result.expect(isQuiet != nil, "an alarm `configuration` stands although the file is good")
    let letters = try await stage.deadLetters().count
    result.expect(letters == 0, "\(letters) dead letters")
    let small = stage.ledger.entries.filter { $0.users.count == 1 }.count
    result.note("\(small) jobs of one user each")
  }
}
