internal import Model
internal import Reactor
internal import Store

/// Recipients and pushes in a lane's hands, until what became of them is told; loop-bound. They are a chunk's (`ChunkRun`), or
/// those of a job that is sent from its entry (`DirectRun`), which is a chunk's later when it lasts.
///
/// Recipients are resolved a batch at a time; each becomes a few pushes, and is done when every one of them has a decision.
/// What is done since the last settlement is gathered, to be told to the store in one call after the effect. So a crash
/// before that call counts nothing, and one after it counts everything once. A user whose devices do not all answer is done
/// without the silent ones, which become recipients of their own: the last lines of the chunk.
final class PushRun {
  /// The chunk that they are. It stands in no stream while its job is sent from its entry.
  private(set) var claim: ChunkClaim
  let material: JobMaterial
  private(set) var place: RunPlace
  let loop: EventLoop
  /// Raised when its task has something to do.
  private(set) lazy var signal = LoopSignal(loop: loop)
  /// Who waits with it in place of a task.
  var attendant: (any RunAttendant<PushRun>)?
  /// The memory of the recipients' lines, and of what is read of them.
  let arena = ByteArena()
  private(set) var recipients: RecipientTable
  private(set) var pushes: [Push] = []
  private(set) var standing = Standing.active {
    didSet { if standing == .stale { trace.end() } }
  }
  /// The news that the store has not been told yet.
  var news: ChunkNews
  var held = HeldDecisions()
  var underway = PushesUnderway()
  var trace: RunTrace
  /// The values that texts are filled with, by `Push.variables`.
  var variables = VariableTable()

  /// - Parameter slot: its place in the lane's table.
  init(_ claim: ChunkClaim, _ material: JobMaterial, slot: Int, loop: EventLoop) {
    self.claim = claim
    self.material = material
    place = RunPlace(slot: slot)
    self.loop = loop
    let text = claim.recipients.withUnsafeBytes { [arena] in arena.copy($0) }
    recipients = RecipientTable(text, of: claim.lines, done: claim.done)
    news = ChunkNews(done: claim.done, mayJoin: claim.crashes == 0)
    // What was put aside, or was in another worker's hands, has a history that its accept belongs to.
    trace = RunTrace(material.trace, hasHistory: claim.isResidual || claim.crashes > 0)
    pushes.reserveCapacity(recipients.count)
  }

  var slot: Int { place.slot }

  /// There is something to do for it.
  func wake() { if let attendant { attendant.hear(self) } else { signal.raise() } }

  /// Notes the generation of the place that it got, and that what it records is awaited.
  func enter(generation: UInt8) {
    place.generation = generation
    trace.begin()
  }

  /// The job that was sent from its entry is this chunk from now on.
  func become(_ claim: ChunkClaim) { self.claim = claim }

  // MARK: Resolving

  /// The next recipients to resolve, all of one kind; they are taken by this.
  func takeBatch(max: Int) -> Range<Int> { recipients.take(max: max) }

  /// Gives a batch back whose resolving failed.
  func returnBatch(_ batch: Range<Int>) {
    recipients.giveBack(batch)
    // Cancelled meanwhile: nobody resolves it any more.
    if standing == .cancelled {
      skipUnresolved()
      releaseHeld()
    }
  }

  /// Begins to add the pushes of a recipient; all of them before the next recipient's.
  func beginRecipient(_ index: Int) { recipients.begin(index) }

  /// All pushes of the recipient are there; some may be decided already.
  func endRecipient(_ index: Int) {
    recipients.endResolving()
    if recipients[index].pushCount == 0 { noteRecipient(index, because: .noInstallation) }
    if recipients[index].openCount == 0 { close(index) }
  }

  /// Nothing is sent to the recipient, which was told to `news`.
  func endUnsent(_ index: Int) {
    recipients.finish(index)
    // It may have been the last one that doubtful verdicts wait for.
    releaseHeld()
    if isFinished { wake() }
  }

  /// Adds a push of the recipient that was begun.
  /// - Returns: its number.
  func add(_ push: Push) -> Int {
    recipients.add(push: pushes.count, of: Int(push.recipient))
    underway.open()
    pushes.append(push)
    return pushes.count - 1
  }

  // MARK: Decisions

  /// - Parameter cause: why, when no answer says it; for its trace.
  func decide(_ index: Int, _ decision: Push.Decision, because cause: TraceCause? = nil) {
    guard pushes[index].decision == .open else { return }
    pushes[index].decision = decision
    if decision != .accepted || isNoteworthy(index) {
      trace.noteDecision(pushes[index], because: cause, delay: held.details.delay(of: index))
    }
    underway.close()
    held.add()
    let recipient = Int(pushes[index].recipient)
    if recipients.noteDecision(of: recipient) {
      close(recipient)
    } else {
      held.noteOpen(nowNs: loop.nowNs)
      raiseIfMany()
    }
  }

  // MARK: Answers

  /// Has a push tried in the environment that it is not installed for. What its own one answered is not
  /// the last word, and so does not count.
  func redirect(_ index: Int, to target: PushTarget) {
    discountMisfit(index)
    pushes[index].target = target
    pushes[index].isRedirected = true
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

  /// A request with this push was refused for one of its pushes: from now on at most so many leave together with it.
  func narrow(_ index: Int, to togetherMax: Int) {
    pushes[index].togetherMax = UInt16(clamping: togetherMax)
  }

  // MARK: Recipients that are done

  private func close(_ index: Int) {
    let pushes = recipients.pushes(of: index)
    let doubts = held.details.doubts(among: pushes)
    if doubts == 0 {
      held.release(pushes.count)
      if !postpone(index) { finishOrHoldBack(index) }
    } else if doubts == pushes.count {
      held.release(pushes.count)
      held.doubtful.add(index, pushes: pushes.count)
    } else {
      split(index)
    }
    releaseHeld()
  }

  /// - Returns: false when the recipient is done, and told with the next settlement.
  private func postpone(_ index: Int) -> Bool {
    let pushes = recipients.pushes(of: index)
    guard pushes.allSatisfy({ self.pushes[$0].decision == .later }) else { return false }
    let delays = pushes.compactMap { held.details.delay(of: $0) }
    guard let delayMs = delays.map(\.delayMs).min(), !delays.contains(where: \.isHurried) else {
      return false
    }
    return held.postponed.add(index, delayMs: delayMs, nowNs: loop.nowNs)
  }

  /// Ends a user some of whose devices have an outcome: each of the others becomes a recipient of its own.
  private func split(_ index: Int) {
    let pushes = recipients.pushes(of: index)
    held.release(pushes.count - Int(recipients[index].openCount))
    for push in pushes {
      let isOpen = self.pushes[push].decision == .open
      guard isOpen || held.details.isDoubtful(push) else { continue }
      news.keepOpen(self.pushes[push])
      self.pushes[push].recipient = Int32(recipients.count)
      if !isOpen { held.doubtful.add(recipients.count, pushes: 1) }
      recipients.append(push: push, isOpen: isOpen)
    }
    finish(index)
  }

  /// Ends the users that have waited for their other devices long enough, or of whom there are many.
  private func splitWaiting() {
    guard isWaitingOver else { return }
    for index in 0..<recipients.firstInstallation {
      let recipient = recipients[index]
      if recipient.openCount > 0, recipient.openCount < recipient.pushCount { split(index) }
    }
  }

  /// Whether decisions have waited long enough for those about the same users' other devices.
  private var isWaitingOver: Bool {
    held.isOver(isActive: standing == .active, nowNs: loop.nowNs)
  }

  /// Whether there is something to settle.
  var hasNews: Bool {
    news.recipients > 0 || isWaitingOver || held.postponed.isOver(nowNs: loop.nowNs)
  }

  /// How soon it is to be looked whether there is something to settle: no result waits for `WorkerLimits.checkpointMs`.
  var settleWithinMs: UInt64 {
    held.partial > 0 ? WorkerLimits.checkpointMs / 2 : WorkerLimits.checkpointMs
  }

  private func raiseIfMany() {
    if news.results + held.partial >= WorkerLimits.checkpointResults { wake() }
  }

  /// Doubtful verdicts are settled together: at the end, or when there are so many that it shows whether they are
  /// too many. So is what is tried later: at the end, or when it has waited long enough.
  private func releaseHeld() {
    let isEnd =
      openRecipients == held.recipients || (standing != .active && openPushes == 0)
    if isEnd || held.doubtful.pushes >= WorkerLimits.checkpointResults {
      // Whatever their number: a few of them look like deaths, and all together like the mistake that they may be.
      for index in held.doubtful.takeAll() { finish(index) }
    }
    if isEnd || held.postponed.isOver(nowNs: loop.nowNs) {
      for index in held.postponed.takeAll() { finish(index) }
    }
  }

  /// Keeps a recipient with dead tokens for the next settlement when this one has as many as it may.
  private func finishOrHoldBack(_ index: Int) {
    guard news.isFullOfDead,
      recipients.pushes(of: index).contains(where: { pushes[$0].decision == .invalid })
    else { return finish(index) }
    held.holdBack(index)
    wake()
  }

  private func finish(_ index: Int) {
    recipients.finish(index)
    let pushes = recipients.pushes(of: index)
    if index < recipients.firstInstallation { news.resolveUser(installations: pushes.count) }
    var results = 0
    for push in pushes where self.pushes[push].recipient == index {
      held.details.tell(push, self.pushes[push], to: &news)
      results += 1
    }
    news.finish(index, results: results)
    if isFinished { wake() } else { raiseIfMany() }
  }

  // MARK: Standing

  func change(to standing: Standing) {
    guard self.standing == .active else { return }
    self.standing = standing
    if standing == .stale { trace.recordAll() }
    if standing == .cancelled { skipUnresolved() }
    releaseHeld()
    wake()
  }

  private func skipUnresolved() {
    while let index = recipients.takeNext() {
      skipRecipient(index, network: InstallationLine(lines[index])?.network, because: .cancelled)
    }
  }

  /// Gives the run up when what was taken for the store never reached it: nothing more is told, and the lease's end
  /// gives the chunk to others as the store last knew it.
  func abandon() { standing = .stale }

  // MARK: Settling

  /// Takes out the settlement that is to be told now; it counts as told.
  func takeNews(isFinal: Bool) -> Settlement {
    splitWaiting()
    releaseHeld()
    // Those that this settlement has no room for are told by the next one.
    defer { for index in held.takeHeldBack() { finishOrHoldBack(index) } }
    return news.take(isFinal: isFinal)
  }

  /// The store has what was last told.
  func confirmNews() { news.confirm() }
}
