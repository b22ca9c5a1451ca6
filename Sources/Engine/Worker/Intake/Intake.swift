internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Takes producers' jobs in: new ones, those that silent workers left half taken in, and those that waited for this worker's
/// routes.
final class Intake: Agent {
  private let context: LaneContext
  private let admitter: Admitter
  /// Ends its wait for jobs.
  private let signal: LoopSignal
  /// From when on jobs are looked for that silent workers left; nil when at once.
  private var abandonedDueNs: UInt64?
  private var wasHeld = false
  /// Whether it has just waited for room that jobs of some priority have not.
  private var hasPaused = false
  private var lostAnswers = LostAnswers()
  /// How often jobs could not be begun that were to be beside others.
  private var failuresBeside = 0
  /// Whether jobs that waited for a worker with these routes are to be taken in.
  private var isRoutedDue = false

  init(_ context: LaneContext, admitter: Admitter, signal: LoopSignal) {
    self.context = context
    self.admitter = admitter
    self.signal = signal
  }

  /// Jobs wait for this worker's routes.
  func noteRouted() {
    isRoutedDue = true
    signal.raise()
  }

  /// Jobs that were leased before could not be begun: what else was lost with the connection is noted by who asked for it.
  func noteFailureBeside(_ error: RedisError) {
    // What Redis refused is not lost.
    switch error {
    case .server where error.isPassing: failuresBeside += 1
    case .server, .unexpectedReply: break
    default: failuresBeside += 1
    }
    lostAnswers.note(error, isCounted: false)
    context.reasons.note(error, during: "taking jobs in")
    signal.raise()
  }

  /// Takes some in, or waits until there may be some.
  func turn() async -> UInt64 {
    var isTime = false
    do throws(RedisError) {
      if lostAnswers.areToBeAskedFor { try await takeUnanswered() }
      if isRoutedDue { isRoutedDue = try await takeRouted() }
      let hasWaiting = admitter.direct.areAnyWaiting
      if hasWaiting { admitter.direct.wakeWaiting() }
      if admitter.direct.isFull {
        await admitter.direct.waitForRoom()
        return 0
      }
      // A lane that leaves streams alone would not find what silent workers left there.
      isTime = !admitter.large.isFull && (abandonedDueNs.map { context.loop.nowNs >= $0 } ?? true)
      // Jobs without room are left in the stream. After a pause some are taken all the same, when those before have found room:
      // only then does it show whose they are.
      let takesAll = isTime || hasPaused && !hasWaiting
      let last = takesAll ? Priority.low : admitter.direct.lowestWanted
      hasPaused = false
      guard let last else { return await pause(thenAll: true) }
      let failuresBefore = failuresBeside
      let intake = try await admitter.admitNext(
        downTo: last, abandonedForMs: isTime ? context.settings.leaseMs : nil)
      if failuresBeside == failuresBefore { lostAnswers.forget() }
      if isTime { abandonedDueNs = nextLookNs(after: intake) }
      if intake.amount == .maybeMore { context.shared.idle.wake(.jobs) }
      let mayBeMore = intake.amount == .maybeMore || intake.hasAbandoned
      guard !mayBeMore, !isRoutedDue else { return 0 }
      // Not among the idle ones: it would be woken for what it has no room for.
      guard last == .low, admitter.direct.isOpen else {
        return await pause(thenAll: last != .low)
      }
      if admitter.large.isFull {
        // Not among the idle ones: it would be woken for what it leaves to others.
        let lanes = context.shared.idle.enterFull()
        defer { context.shared.idle.leaveFull() }
        await signal.wait(upToMs: WorkerLimits.besideLargeMs * UInt64(lanes))
        return 0
      }
      // Of what is held back few come at a time, and more may be.
      let heldMs =
        intake.amount == .nothing || wasHeld ? try await context.store.jobs.heldBackMs() : nil
      wasHeld = heldMs != nil
      if let heldMs, context.shared.idle.watchHeld() {
        defer { context.shared.idle.leaveHeld() }
        await signal.wait(upToMs: heldMs)
      } else {
        await waitForJobs()
      }
      return 0
    } catch {
      // What Redis refuses each time must not come first each time.
      if isTime, !error.isPassing { abandonedDueNs = dueNs(afterMs: context.settings.leaseMs / 4) }
      lostAnswers.note(error)
      context.reasons.note(error, during: "taking jobs in")
      return WorkerLimits.redisPauseMs
    }
  }

  /// Waits for room, a moment.
  /// - Parameter thenAll: whether jobs of all priorities may be taken after it.
  private func pause(thenAll: Bool) async -> UInt64 {
    await admitter.direct.pause()
    hasPaused = thenAll
    return 0
  }

  func finish() async { admitter.large.close() }

  /// When silent workers' jobs are looked for again; nil when at once.
  private func nextLookNs(after intake: Admitter.Yield) -> UInt64? {
    if intake.hasAbandoned { return nil }
    // A full call has not looked at the priorities that come behind.
    return dueNs(
      afterMs: intake.amount == .maybeMore
        ? WorkerLimits.abandonedLookMs : context.settings.leaseMs / 4)
  }

  private func dueNs(afterMs: UInt64) -> UInt64 { context.loop.nowNs &+ afterMs &* 1_000_000 }

  private func waitForJobs() async {
    let remote = RemoteSignal(signal, of: context.loop)
    guard
      context.shared.idle.enlist(
        context.settings.number, for: .jobs, wake: { remote.raise() })
    else {
      return
    }
    await signal.wait(upToMs: WorkerLimits.idleLaneMsMax)
    context.shared.idle.withdraw(context.settings.number, from: .jobs)
  }

  /// Takes in what this lane was given by answers that were lost, or had begun to take in when Redis was.
  private func takeUnanswered() async throws(RedisError) {
    // No more than one answer brings; what Redis refuses to admit would come back for ever.
    for _ in 0..<WorkerLimits.routedJobsMax {
      do throws(RedisError) {
        guard try await admitter.admitUnanswered() else { return }
      } catch {
        // What Redis refuses waits for its lease, as it would without a loss: it must not keep all others waiting.
        switch error {
        case .server where error.isPassing: break
        case .server, .unexpectedReply: lostAnswers.forget()
        default: break
        }
        throw error
      }
      context.fetchSignal.raise()
    }
  }

  /// Takes in jobs that waited for a worker with this one's routes. - Returns: whether there may be more.
  private func takeRouted() async throws(RedisError) -> Bool {
    let entries = try await context.store.routes.takeJobs(
      consumer: context.settings.consumer, for: context.snapshot.routes,
      max: WorkerLimits.routedJobsMax)
    guard !entries.isEmpty else { return false }
    try await admitter.admit(entries)
    context.shared.idle.wake(.chunks)
    return true
  }
}
