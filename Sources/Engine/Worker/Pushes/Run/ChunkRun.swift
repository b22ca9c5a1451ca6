internal import Model
internal import Reactor
internal import Store

/// One claimed chunk on a lane, from its claim to its final settlement; loop-bound.
///
/// Recipients are resolved a batch at a time; each becomes a few pushes, and is done when every one of them has a decision.
/// What is done since the last settlement is gathered, to be told to the store in one call after the effect. So a crash
/// before that call counts nothing, and one after it counts everything once. A user whose devices do not all answer is done
/// without the silent ones, which become recipients of their own: the last lines of the chunk.
final class ChunkRun {
  private(set) var claim: ChunkClaim
  /// The job while it is sent from its entry, and since when, in epoch milliseconds; nil for a chunk.
  private(set) var direct: DirectJob?
  let begunAtMs: Int64
  let material: JobMaterial
  /// Its place in the lane's table, part of every request's tag.
  let slot: Int
  /// Which of the runs that had this place it is; the table says.
  private(set) var generation: UInt8 = 0
  /// Raised when its task has something to do.
  private(set) lazy var signal = LoopSignal(loop: loop)
  /// Who waits with it in place of a task, for a job that is sent from its entry.
  var attendant: (any RunAttendant<ChunkRun>)?
  /// The settlement that its task is to tell at last; nil when that is still to be taken.
  var untold: Settlement?
  let arena = ByteArena()
  /// The recipients' lines; they live in the arena.
  let lines: [UnsafeRawBufferPointer]
  /// The first line that is an installation; those before it are users.
  let firstInstallation: Int
  let loop: EventLoop
  let begunNs: UInt64

  private(set) var recipients: [Recipient]
  private(set) var pushes: [Push] = []
  /// The first recipient not resolved yet.
  private(set) var cursor = 0
  private(set) var standing = Standing.active {
    didSet { if standing == .stale { endTrace() } }
  }
  /// The recipient whose pushes are being added.
  private var resolving: Int?
  /// Pushes without a decision: queued, or in flight.
  private(set) var openPushes = 0
  private(set) var openRecipients: Int
  /// Where what happens is recorded; nil when that is nowhere.
  let trace: JobTrace?
  /// Whether the trace counts it among the runs that are still to tell something.
  var isTraced = false
  /// Whether plain accepts are recorded, too.
  private(set) var tracesAll: Bool
  /// The answer that the decision being made follows from.
  var answer: TracedAnswer?
  /// When its lease was last renewed, in the loop's time.
  private(set) var renewedNs: UInt64
  /// Its hold of the process' place for poison chunks; nil when it is none.
  let poisonTicket: UInt64?

  /// The news that the store has not been told yet.
  var news: ChunkNews
  /// Decisions about pushes of recipients that have open ones, too, and when the first of them was made, in the
  /// loop's time.
  private var waitingDecisions = 0
  private var waitingSinceNs: UInt64 = 0
  var details = DecisionDetails()
  var jitters = RetryJitter()
  var underway = PushesUnderway()
  var pace: ChunkPace?  // nil when its job keeps to none
  var variables = VariableTable()  // what texts are filled with, by `Push.variables`
  /// Recipients with doubtful verdicts alone: they are done when all others are.
  private var doubtful = DoubtfulRecipients()
  /// Recipients all of whose pushes are tried later: told together, they come back as one chunk.
  private var postponed = PostponedRecipients()
  /// Recipients that are done and have dead tokens, when the next settlement has as many of these as it may.
  private var heldBack: [Int] = []

  init(
    claim: ChunkClaim, material: JobMaterial, slot: Int, loop: EventLoop,
    poisonTicket: UInt64? = nil, direct: DirectJob? = nil, begunAtMs: Int64 = 0
  ) {
    self.claim = claim
    self.direct = direct
    self.begunAtMs = begunAtMs
    begunNs = loop.nowNs
    self.material = material
    self.slot = slot
    trace = material.trace
    // What was put aside, or was in another worker's hands, has a history that its accept belongs to.
    let hasHistory = claim.isResidual || claim.crashes > 0
    tracesAll = trace.map { $0.isFull || hasHistory } ?? false
    pace = claim.isPaced ? ChunkPace() : nil
    renewedNs = loop.nowNs
    self.poisonTicket = poisonTicket
    let text = claim.recipients.withUnsafeBytes { [arena] in arena.copy($0) }
    lines = Array(SegmentLines(text))
    firstInstallation = Self.firstInstallation(lines, of: claim.lines)
    news = ChunkNews(done: claim.done, mayJoin: claim.crashes == 0)
    self.loop = loop
    recipients = Array(repeating: Recipient(), count: lines.count)
    openRecipients = lines.count
    for index in lines.indices where claim.done.contains(index) {
      recipients[index].isDone = true
      openRecipients -= 1
    }
    pushes.reserveCapacity(lines.count)
    skipDone()
  }

  /// There is something to do for it.
  func wake() { if let attendant { attendant.hear(self) } else { signal.raise() } }

  /// Notes the generation of the place that it got.
  func enter(generation: UInt8) { self.generation = generation }

  /// Turns a run that was sent from its job's entry into a chunk's.
  func become(_ claim: ChunkClaim) {
    self.claim = claim
    direct = nil
    noteRenewal()
  }

  /// Its lease was renewed just now.
  func noteRenewal() { renewedNs = loop.nowNs }

  // MARK: Resolving

  /// The next recipients to resolve, all of one kind; they are taken by this.
  func takeBatch(max wanted: Int) -> Range<Int> {
    let count = pace.map { min(wanted, $0.allowance) } ?? wanted
    let first = cursor
    let end = cursor < firstInstallation ? firstInstallation : lines.count
    while cursor < end, cursor - first < count, !recipients[cursor].isDone { cursor += 1 }
    defer { skipDone() }
    return first..<cursor
  }

  /// Gives a batch back whose resolving failed.
  func returnBatch(_ batch: Range<Int>) {
    cursor = min(cursor, batch.lowerBound)
    // Cancelled meanwhile: nobody resolves it any more.
    if standing == .cancelled {
      skipUnresolved()
      releaseWaiting()
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

  /// Nothing is sent to the recipient, which was told to `news`.
  func endUnsent(_ index: Int) {
    if resolving == index { resolving = nil }
    recipients[index].isDone = true
    openRecipients -= 1
    // It may have been the last one that doubtful verdicts wait for.
    releaseWaiting()
    if openRecipients == 0 { wake() }
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
    waitingDecisions += 1
    let recipient = Int(pushes[index].recipient)
    recipients[recipient].openCount -= 1
    // While a recipient is being resolved its later pushes are not there yet.
    if recipients[recipient].openCount == 0 && recipient != resolving {
      close(recipient)
    } else {
      if waitingDecisions == 1 { waitingSinceNs = loop.nowNs }
      raiseIfMany()
    }
  }

  // MARK: Answers

  /// Has a push tried in the environment that it is not installed for. What its own one answered is not
  /// the last word, and so does not count.
  func redirect(_ index: Int, to route: Route) {
    discountMisfit(index)
    pushes[index].route = route
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
    let pushes = pushes(of: index)
    let doubts = details.doubts(among: pushes)
    if doubts == 0 {
      waitingDecisions -= pushes.count
      if !postpone(index) { finishOrHoldBack(index) }
    } else if doubts == pushes.count {
      waitingDecisions -= pushes.count
      doubtful.add(index, pushes: pushes.count)
    } else {
      split(index)
    }
    releaseWaiting()
  }

  /// - Returns: false when the recipient is done, and told with the next settlement.
  private func postpone(_ index: Int) -> Bool {
    let pushes = pushes(of: index)
    guard pushes.allSatisfy({ self.pushes[$0].decision == .later }) else { return false }
    let delays = pushes.compactMap { details.delay(of: $0) }
    guard let delayMs = delays.map(\.delayMs).min(), !delays.contains(where: \.isHurried) else {
      return false
    }
    return postponed.add(index, delayMs: delayMs, nowNs: loop.nowNs)
  }

  private func pushes(of index: Int) -> Range<Int> {
    let first = Int(recipients[index].firstPush)
    return first..<(first + Int(recipients[index].pushCount))
  }

  /// Ends a user some of whose devices have an outcome: each of the others becomes a recipient of its own.
  private func split(_ index: Int) {
    let pushes = pushes(of: index)
    waitingDecisions -= pushes.count - Int(recipients[index].openCount)
    for push in pushes {
      let isOpen = self.pushes[push].decision == .open
      guard isOpen || details.isDoubtful(push) else { continue }
      news.keepOpen(self.pushes[push])
      self.pushes[push].recipient = Int32(recipients.count)
      if !isOpen { doubtful.add(recipients.count, pushes: 1) }
      recipients.append(
        Recipient(firstPush: Int32(push), pushCount: 1, openCount: isOpen ? 1 : 0))
      openRecipients += 1
    }
    recipients[index].openCount = 0
    finish(index)
  }

  /// Ends the users that have waited for their other devices long enough, or of whom there are many.
  private func splitWaiting() {
    guard isWaitingOver else { return }
    for index in 0..<firstInstallation {
      let recipient = recipients[index]
      if recipient.openCount > 0, recipient.openCount < recipient.pushCount { split(index) }
    }
  }

  /// Whether decisions have waited long enough for those about the same users' other devices.
  private var isWaitingOver: Bool {
    guard waitingDecisions > 0 else { return false }
    return standing != .active || waitingDecisions >= WorkerLimits.checkpointResults / 2
      || loop.nowNs &- waitingSinceNs >= WorkerLimits.checkpointMs / 2 * 1_000_000
  }

  /// Whether there is something to settle.
  var hasNews: Bool {
    news.recipients > 0 || isWaitingOver || postponed.isOver(nowNs: loop.nowNs)
  }

  /// How soon it is to be looked whether there is something to settle: no result waits for `WorkerLimits.checkpointMs`.
  var settleWithinMs: UInt64 {
    waitingDecisions > 0 ? WorkerLimits.checkpointMs / 2 : WorkerLimits.checkpointMs
  }

  private func raiseIfMany() {
    if news.results + waitingDecisions >= WorkerLimits.checkpointResults { wake() }
  }

  /// Doubtful verdicts are settled together: at the end, or when there are so many that it shows whether they are
  /// too many. So is what is tried later: at the end, or when it has waited long enough.
  private func releaseWaiting() {
    let isEnd =
      openRecipients == doubtful.count + postponed.count + heldBack.count
      || (standing != .active && openPushes == 0)
    if isEnd || doubtful.pushes >= WorkerLimits.checkpointResults {
      // Whatever their number: a few of them look like deaths, and all together like the mistake that they may be.
      for index in doubtful.takeAll() { finish(index) }
    }
    if isEnd || postponed.isOver(nowNs: loop.nowNs) {
      for index in postponed.takeAll() { finish(index) }
    }
  }

  /// Keeps a recipient with dead tokens for the next settlement when this one has as many as it may.
  private func finishOrHoldBack(_ index: Int) {
    guard news.isFullOfDead, pushes(of: index).contains(where: { pushes[$0].decision == .invalid })
    else { return finish(index) }
    heldBack.append(index)
    wake()
  }

  private func finish(_ index: Int) {
    recipients[index].isDone = true
    openRecipients -= 1
    let pushes = pushes(of: index)
    if index < firstInstallation { news.resolveUser(installations: pushes.count) }
    var results = 0
    for push in pushes where self.pushes[push].recipient == index {
      details.tell(push, self.pushes[push], to: &news)
      results += 1
    }
    news.finish(index, results: results)
    if openRecipients == 0 { wake() } else { raiseIfMany() }
  }

  // MARK: Standing

  func change(to standing: Standing) {
    guard self.standing == .active else { return }
    self.standing = standing
    // What still comes back is counted by nobody.
    if standing == .stale { tracesAll = trace != nil }
    if standing == .cancelled { skipUnresolved() }
    releaseWaiting()
    wake()
  }

  private func skipUnresolved() {
    while cursor < lines.count {
      let index = cursor
      cursor += 1
      guard !recipients[index].isDone else { continue }
      let network = InstallationLine(lines[index])?.network
      skipRecipient(index, network: network, because: .cancelled)
    }
  }

  /// Gives the run up when what was taken for the store never reached it: nothing more is told, and the lease's end
  /// gives the chunk to others as the store last knew it.
  func abandon() { standing = .stale }

  // MARK: Settling

  /// Takes out the settlement that is to be told now; it counts as told.
  func takeNews(isFinal: Bool) -> Settlement {
    splitWaiting()
    releaseWaiting()
    defer { finishHeldBack() }
    return news.take(isFinal: isFinal)
  }

  /// Has those told by the next settlement that this one had no room for.
  private func finishHeldBack() {
    guard !heldBack.isEmpty else { return }
    let held = heldBack
    heldBack = []
    for index in held { finishOrHoldBack(index) }
  }

  /// The store has what was last told.
  func confirmNews() { news.confirm() }
}
