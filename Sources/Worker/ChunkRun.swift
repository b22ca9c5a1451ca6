internal import Model
internal import Reactor
internal import Store

/// One claimed chunk on a lane, from its claim to its final settlement; loop-bound.
///
/// Recipients are resolved a batch at a time; each becomes a few pushes, and is done when every one of
/// them has a decision. What is done since the last settlement is gathered, to be told to the store in
/// one call after the effect. So a crash before that call counts nothing, and one after it counts
/// everything once.
final class ChunkRun {
  let claim: ChunkClaim
  let material: JobMaterial
  /// Its place in the lane's table, part of every request's tag.
  let slot: Int
  /// Raised when its task has something to do.
  let signal: LoopSignal
  let arena = ByteArena()
  /// The recipients' lines; they live in the arena.
  let lines: [UnsafeRawBufferPointer]

  private(set) var recipients: [Recipient]
  private(set) var pushes: [Push] = []
  /// The first recipient not resolved yet.
  private(set) var cursor = 0
  private(set) var standing = Standing.active
  /// The recipient whose pushes are being added.
  private var resolving: Int?
  /// Pushes without a decision: queued, or in flight.
  private(set) var openPushes = 0
  private(set) var openRecipients: Int
  var inFlight = 0
  /// Where what happens is recorded; nil when that is nowhere.
  let trace: JobTrace?
  /// Whether plain accepts are recorded, too.
  private(set) var tracesAll: Bool
  /// The answer that the decision being made follows from.
  var answer: TracedAnswer?
  /// When its lease was last renewed, in the loop's time.
  var renewedNs: UInt64
  /// Its hold of the process' place for chunks that workers were lost with.
  let suspectTicket: UInt64?

  // What the store has not been told yet:
  private(set) var newlyDone = 0
  private var done: DoneBitmap
  /// What the store knows of it.
  private var toldDone: DoneBitmap
  private var counts = [OutcomeCounts](repeating: OutcomeCounts(), count: 3)
  private var news = Settlement()
  private var residuals: [UInt64: [UInt8]] = [:]
  /// Why pushes are to be tried later or are invalid, by push.
  private(set) var delays: [Int: (delayMs: UInt64, attempt: Int)] = [:]
  private var jitters: [Int: UInt64] = [:]
  private var verdicts: [Int: (reason: String, sinceMs: Int64?)] = [:]
  /// Answers and misfits by network and stored environment.
  private var tallies = [(answers: Int, misfits: Int)](
    repeating: (0, 0), count: Network.allCases.count * 2)
  /// Pushes whose verdict may be a mistake of ours: settled only when it is known how many there are.
  private var doubtful: Set<Int> = []
  /// Recipients with such pushes, and nothing else open: they are done when all others are.
  private var held: [Int] = []

  init(
    claim: ChunkClaim, material: JobMaterial, slot: Int, loop: EventLoop,
    suspectTicket: UInt64? = nil
  ) {
    self.claim = claim
    self.material = material
    self.slot = slot
    trace = material.trace
    // What was put aside, or was in another worker's hands, has a history that its accept belongs to.
    let hasHistory = claim.isResidual || claim.crashes > 0
    tracesAll = trace.map { $0.isFull || hasHistory } ?? false
    signal = LoopSignal(loop: loop)
    renewedNs = loop.nowNs
    self.suspectTicket = suspectTicket
    let text = claim.recipients.withUnsafeBytes { [arena] in arena.copy($0) }
    lines = Array(SegmentLines(text))
    done = claim.done
    toldDone = claim.done
    recipients = Array(repeating: Recipient(), count: lines.count)
    openRecipients = lines.count
    for index in lines.indices where done.contains(index) {
      recipients[index].isDone = true
      openRecipients -= 1
    }
    pushes.reserveCapacity(lines.count)
    skipDone()
  }

  // MARK: Resolving

  /// The next recipients to resolve; they are taken by this.
  func takeBatch(max: Int) -> Range<Int> {
    let first = cursor
    while cursor < lines.count, cursor - first < max, !recipients[cursor].isDone { cursor += 1 }
    defer { skipDone() }
    return first..<cursor
  }

  /// Gives a batch back whose resolving failed.
  func returnBatch(_ batch: Range<Int>) {
    cursor = min(cursor, batch.lowerBound)
    // Cancelled meanwhile: nobody resolves it any more.
    if standing == .cancelled {
      skipUnresolved()
      releaseHeld()
    }
  }

  private func skipDone() {
    while cursor < lines.count, recipients[cursor].isDone { cursor += 1 }
  }

  /// Begins to add the pushes of a recipient; all of them before the next recipient's.
  func beginRecipient(_ index: Int) { resolving = index }

  /// All pushes of the recipient are there; some may be decided already.
  func endRecipient(_ index: Int) {
    resolving = nil
    if recipients[index].pushCount == 0 { noteRecipient(index, because: .noInstallation) }
    if recipients[index].openCount == 0 { close(index) }
  }

  /// The recipient was never resolved and counts as skipped, as one: so it stood in the job's total.
  /// - Parameters:
  ///   - network: what it counts under; a user that was never resolved has none, and counts under the first.
  ///   - cause: why, for its trace.
  func skipRecipient(_ index: Int, network: Network = .apns, because cause: TraceCause) {
    noteRecipient(index, because: cause)
    recipients[index].isDone = true
    openRecipients -= 1
    newlyDone += 1
    done.insert(index)
    counts[network.index].skipped += 1
    // It may have been the last one that doubtful verdicts wait for.
    releaseHeld()
    if openRecipients == 0 { signal.raise() }
  }

  /// Adds a push of the recipient that was begun.
  /// - Returns: its number.
  func add(_ push: Push) -> Int {
    let recipient = Int(push.recipient)
    if recipients[recipient].pushCount == 0 {
      recipients[recipient].firstPush = Int32(pushes.count)
    }
    recipients[recipient].pushCount += 1
    recipients[recipient].openCount += 1
    openPushes += 1
    pushes.append(push)
    return pushes.count - 1
  }

  // MARK: Decisions

  /// - Parameter cause: why, when no answer says it; for its trace.
  func decide(_ index: Int, _ decision: Push.Decision, because cause: TraceCause? = nil) {
    guard pushes[index].decision == .open else { return }
    pushes[index].decision = decision
    if decision != .accepted || isNoteworthy(index) {
      noteDecision(index, decision, because: cause)
    }
    openPushes -= 1
    let recipient = Int(pushes[index].recipient)
    recipients[recipient].openCount -= 1
    // While a recipient is being resolved its later pushes are not there yet.
    if recipients[recipient].openCount == 0 && recipient != resolving { close(recipient) }
  }

  func decideLater(
    _ index: Int, delayMs: UInt64, attempt: Int, because cause: TraceCause? = nil
  ) {
    guard pushes[index].decision == .open else { return }
    // In quarters of a second, so that what fails together comes back as one residual chunk.
    delays[index] = ((delayMs + 249) / 250 * 250, attempt)
    decide(index, .later, because: cause)
  }

  func decideInvalid(_ index: Int, reason: String, sinceMs: Int64?) {
    guard pushes[index].decision == .open else { return }
    verdicts[index] = (reason, sinceMs)
    decide(index, .invalid)
  }

  /// As `decideInvalid`, but told together with all others of the chunk: by then it shows whether they
  /// are too many.
  func decideDoubtful(_ index: Int, reason: String) {
    guard pushes[index].decision == .open else { return }
    doubtful.insert(index)
    decideInvalid(index, reason: reason, sinceMs: nil)
  }

  // MARK: Answers

  private func tally(_ push: Push) -> Int {
    push.network.index * 2 + (push.environment == .production ? 0 : 1)
  }

  /// Notes that a push was answered, however.
  func noteAnswer(_ index: Int) { tallies[tally(pushes[index])].answers += 1 }

  /// Notes that the answer was a sign of tokens and configuration not fitting each other.
  func noteMisfit(_ index: Int) { tallies[tally(pushes[index])].misfits += 1 }

  /// Has a push tried in the environment that it is not installed for. What its own one answered is not
  /// the last word, and so does not count.
  func redirect(_ index: Int, to destination: Int16) {
    tallies[tally(pushes[index])].answers -= 1
    tallies[tally(pushes[index])].misfits -= 1
    pushes[index].destination = destination
    pushes[index].isAstray = true
  }

  /// The random part of this run's retries of an attempt, drawn once: its pushes that fail alike are
  /// tried again together, other runs' at other times.
  func jitter(attempt: Int) -> UInt64 {
    if let drawn = jitters[attempt] { return drawn }
    let drawn = UInt64.random(in: .min ... .max)
    jitters[attempt] = drawn
    return drawn
  }

  /// Notes another resending of a push.
  func noteResend(_ index: Int) -> Int {
    pushes[index].resends &+= 1
    return Int(pushes[index].resends)
  }

  /// The binding of a push was read again and still holds.
  func confirmBinding(_ index: Int, generation: UInt64, atNs: UInt64) {
    pushes[index].generation = generation
    pushes[index].boundNs = atNs
  }

  private func close(_ index: Int) {
    let first = Int(recipients[index].firstPush)
    let pushes = first..<(first + Int(recipients[index].pushCount))
    if !doubtful.isEmpty && pushes.contains(where: { doubtful.contains($0) }) {
      held.append(index)
    } else {
      finish(index)
    }
    releaseHeld()
  }

  /// Doubtful verdicts are settled together: at the end, or when there are so many that it shows whether they are
  /// too many. The same recipients' accepts wait with them, and a crash must not repeat more than a checkpoint's.
  private func releaseHeld() {
    guard
      openRecipients == held.count || held.count >= WorkerLimits.checkpointResults
        || (standing != .active && openPushes == 0)
    else { return }
    let ready = held
    held.removeAll()
    for index in ready { finish(index) }
  }

  private func finish(_ index: Int) {
    recipients[index].isDone = true
    openRecipients -= 1
    newlyDone += 1
    done.insert(index)
    let first = Int(recipients[index].firstPush)
    let count = Int(recipients[index].pushCount)
    if claim.lines == .users { news.resolveUser(installations: count) }
    for push in first..<(first + count) { gather(push) }
    if newlyDone >= WorkerLimits.checkpointResults || openRecipients == 0 { signal.raise() }
  }

  private func gather(_ index: Int) {
    let push = pushes[index]
    let network = push.network.index
    switch push.decision {
    case .accepted:
      counts[network].accepted += 1
      if push.isAstray { gatherRelabelling(push) }
    case .rejected: counts[network].rejected += 1
    case .uninstalled: counts[network].uninstalled += 1
    case .expired: counts[network].expired += 1
    case .skipped: counts[network].skipped += 1
    case .failed: counts[network].failed += 1
    case .later: gatherResidual(push, index)
    case .invalid: gatherInvalid(push, index)
    case .open: preconditionFailure("a recipient is done when all its pushes are decided")
    }
  }

  private func gatherResidual(_ push: Push, _ index: Int) {
    let delay = delays.removeValue(forKey: index) ?? (0, Int(push.attempt) - 1)
    if delay.attempt >= Int(push.attempt) { news.retries += 1 }
    InstallationLine.append(
      network: push.network, environment: push.environment, token: push.token, user: push.user,
      generation: push.generation, attempt: delay.attempt,
      to: &residuals[delay.delayMs, default: []])
  }

  private func gatherRelabelling(_ push: Push) {
    news.relabellings.append(
      Settlement.Relabelling(
        network: push.network, token: String(decoding: push.token, as: UTF8.self),
        user: String(decoding: push.user, as: UTF8.self), generation: push.generation,
        environment: push.environment.other))
  }

  private func gatherInvalid(_ push: Push, _ index: Int) {
    let verdict = verdicts.removeValue(forKey: index)
    news.invalidations.append(
      Settlement.Invalidation(
        network: push.network, environment: push.environment,
        token: String(decoding: push.token, as: UTF8.self),
        user: String(decoding: push.user, as: UTF8.self), generation: push.generation,
        sinceMs: verdict?.sinceMs, reason: verdict?.reason ?? ""))
  }

  // MARK: Standing

  func change(to standing: Standing) {
    guard self.standing == .active else { return }
    self.standing = standing
    // What still comes back is counted by nobody.
    if standing == .stale { tracesAll = trace != nil }
    if standing == .cancelled { skipUnresolved() }
    releaseHeld()
    signal.raise()
  }

  private func skipUnresolved() {
    while cursor < lines.count {
      let index = cursor
      cursor += 1
      if !recipients[index].isDone { skipRecipient(index, because: .cancelled) }
    }
  }

  /// What was taken for the store never reached it: nothing more is told, and the lease's end gives the
  /// chunk to others as the store last knew it.
  func abandon() { standing = .stale }

  // MARK: Settling

  /// What is to be told now; it counts as told.
  func takeNews(isFinal: Bool) -> Settlement {
    var told = news
    told.isFinal = isFinal
    told.done = done
    told.told = toldDone
    toldDone = done
    for network in Network.allCases where !counts[network.index].isZero {
      told.counts[network] = counts[network.index]
      counts[network.index] = OutcomeCounts()
    }
    for network in Network.allCases {
      for environment in PushEnvironment.allCases {
        takeTally(network, environment, &told)
      }
    }
    told.residuals = residuals.map { Settlement.Residual(delayMs: $0.key, lines: $0.value) }
    residuals.removeAll()
    news = Settlement()
    newlyDone = 0
    return told
  }

  private func takeTally(
    _ network: Network, _ environment: PushEnvironment, _ told: inout Settlement
  ) {
    let index = network.index * 2 + (environment == .production ? 0 : 1)
    let (answers, misfits) = tallies[index]
    guard answers > 0 || misfits > 0 else { return }
    tallies[index] = (0, 0)
    told.tallies.append(
      Settlement.Tally(
        network: network, environment: environment, answers: answers, misfits: misfits))
  }
}
