internal import CurlTransport
internal import HTTP2
internal import Model
internal import Providers
internal import Reactor

/// One push network of one app in one environment, as a lane sends to it: its connections, its
/// credential and the pushes that wait; loop-bound.
final class Destination {
  let identity: DestinationIdentity
  /// The rates that its pushes keep to; empty for most.
  let limits: [RateAllowance]
  let loop: EventLoop
  let journal: DestinationJournal
  unowned let owner: any DestinationOwner<Destination>
  let settings: ClientSettings
  private(set) var transport: (any Transport)!
  /// Only this file and Destination+Apart write it.
  var waiting: WaitingPushes
  var apart = ApartPushes()
  /// Only Destination+Credential writes it.
  var authorization = Authorization()
  /// Raised when the credential has to be looked after.
  let credentialSignal: LoopSignal
  var reports = ConnectionReports()
  private(set) var progress = SendingProgress()
  private var returns = ReturnPace()
  private var departures = Departures()
  /// Only this file and Destination+Network write it.
  var health: NetworkHealth

  init(
    entry: ProviderDirectory.Entry, limits: [RateAllowance] = [],
    settings: ClientSettings, breaker: Breaker = Breaker(), loop: EventLoop,
    journal: DestinationJournal, owner: any DestinationOwner<Destination>
  ) {
    identity = DestinationIdentity(entry)
    self.limits = limits
    self.loop = loop
    self.journal = journal
    self.owner = owner
    var settings = settings
    settings.acceptedForm = entry.provider.acceptedForm
    self.settings = settings
    health = NetworkHealth(breaker: breaker)
    credentialSignal = LoopSignal(loop: loop)
    waiting = WaitingPushes(pushesPerRequest: entry.provider.pushesPerRequest)
    transport = makeTransport(settings)
    if batches != nil {
      waiting.batchTimer = LoopTimer(loop: loop) { [weak self] in self?.wake() }
    }
  }

  func makeTransport(_ settings: ClientSettings) -> any Transport {
    provider.destination.acceptsHTTP1
      ? CurlPool(loop: loop, settings: settings, delegate: self)
      : ClientPool(loop: loop, settings: settings, delegate: self)
  }

  var number: Int { identity.number }
  var entry: ProviderDirectory.Entry { identity.entry }
  var app: String { identity.entry.app }
  var provider: any PushProvider { identity.provider }
  var authority: String { identity.authority }
  var network: Network { identity.network }
  var heads: RequestHeads { identity.heads }

  var batches: BatchQueue? { waiting.batches }
  /// Whether its lane lists it among those where pushes wait.
  var isListed: Bool {
    get { waiting.isListed }
    set { waiting.isListed = newValue }
  }
  /// Pushes that wait to be submitted.
  var queued: Int { waiting.count }
  func queued(upTo rank: Int) -> Int { waiting.count(upTo: rank) }
  /// The queued pushes that keep the lane from resolving more of a priority: beyond what fills the next requests.
  func crowd(upTo rank: Int) -> Int { waiting.crowd(upTo: rank) }

  var inFlight: Int { transport.inFlight + (apart.transport?.inFlight ?? 0) }
  var readyConnections: Int { transport.readyConnections }

  /// How many pushes it can usefully hold: what its connections carry, and some to refill them with.
  var queueTarget: Int { transport.streamsMax }

  /// How many pushes were submitted in the last two spans of `WorkerLimits.directSpanMs`.
  func leaving(nowNs: UInt64) -> Int { departures.lately(nowNs: nowNs) }

  func noteSent(_ count: Int, nowNs: UInt64) { departures.note(count, nowNs: nowNs) }

  // MARK: Pushes

  /// Queues a push. Nothing is sent before the end of the turn.
  func enqueue(_ tag: UInt64, rank: Int) {
    waiting.append(tag, rank: rank)
    if waiting.single == 1 {
      owner.destinationHasWaiting(self)
      transport.wake()
    }
  }

  /// Keeps only what is still to be sent.
  func filterQueue(_ isKept: (UInt64) -> Bool) {
    batches?.filter(isKept)
    for rank in 0..<PushQueue.ranks {
      filterSingle(rank: rank, isKept)
      for _ in 0..<apart.queue.count(rank: rank) {
        guard let tag = apart.queue.popFirst(rank: rank) else { break }
        if isKept(tag) { apart.queue.append(tag, rank: rank) }
      }
    }
  }

  /// Looks at all that waits here, also apart.
  func forEachQueued(_ body: (UInt64) -> Void) {
    filterQueue { tag in
      body(tag)
      return true
    }
  }

  /// Takes out of the queue what is to be tried apart, put aside or ended.
  func takeOut(_ isTaken: (UInt64) -> Bool) {
    batches?.filter { !isTaken($0) }
    for rank in 0..<PushQueue.ranks { filterSingle(rank: rank) { !isTaken($0) } }
  }

  /// Whoever is asked may look at the queue.
  private func filterSingle(rank: Int, _ isKept: (UInt64) -> Bool) {
    for _ in 0..<waiting.single(rank: rank) {
      guard let tag = waiting.popFirst(rank: rank) else { break }
      if isKept(tag) { waiting.append(tag, rank: rank) }
    }
  }

  /// Whether anything waits in it.
  var hasWaiting: Bool { queued > 0 || apart.queue.count > 0 }

  /// Asks for what waits to be sent, as after a batch was queued.
  func wake() {
    if apart.queue.count > 0 { apart.transport?.wake() }
    let count = queued
    guard count > 0 else { return }
    owner.destinationHasWaiting(self)
    transport.wake(waiting: count)
    if credential == nil { credentialSignal.raise() }
  }

  /// For how long a push of this rank that comes now is to be put aside, rather than fill the room that the lane has for all its
  /// destinations; nil when it may be queued. Where nothing connects or nothing is answered some wait all the same, so that it is
  /// tried again; the others come back soon, for a network may be back as soon. Where there are many such networks one push of
  /// each waits.
  func parkDelayMs(rank: Int) -> UInt64? {
    if let pauseMs { return pauseMs }
    guard isSilent else { return nil }
    let count = queued(upTo: rank)
    let countMax =
      isOutOfTouch ? WorkerLimits.outOfTouchQueueMax : WorkerLimits.unansweredQueueMax
    guard
      count >= countMax
        || count > 0 && owner.queuedSilent(upTo: rank) >= WorkerLimits.silentQueuesMax
    else { return nil }
    return isOutOfTouch ? WorkerLimits.outOfTouchDelayMs : WorkerLimits.unansweredDelayMs
  }

  /// For how long a whole chunk is put aside whose pushes would be for so long.
  func returnMs(atLeast delayMs: UInt64) -> UInt64 {
    isSilent ? returns.delayMs(atLeast: delayMs, nowNs: loop.nowNs) : delayMs
  }

  /// For how long nothing is sent at all, and nothing waits here; nil when that is not so.
  var pauseMs: UInt64? {
    let untilNs = max(
      authorization.pausedUntilNs, progress.parkedUntilNs, health.heldUntilNs)
    guard loop.nowNs < untilNs else { return nil }
    if isRetired { return WorkerLimits.retiredDelayMs }
    // Not for the whole of a long pause: another worker may be able to send it meanwhile.
    return min((untilNs - loop.nowNs) / 1_000_000 + 1, WorkerLimits.parkedDelayMs)
  }

  /// Puts aside what waits when there was no credential, no connection or no answer for too long.
  func checkReachable() {
    if health.closeIfIdle(nowNs: loop.nowNs) { endTrouble() }
    health.forgetOldHolds(nowNs: loop.nowNs)
    checkApart()
    let isConnected = transport.readyConnections > 0 && credential != nil
    if isConnected { progress.noteTouch() }
    guard queued > 0 else { return progress.forgetWait() }
    if let pauseMs { return park(forMs: pauseMs) }
    if isConnected && isStarved && limits.contains(where: \.isWaiting) {
      return progress.forgetWait()
    }
    if !isConnected { transport.wake() }
    if let delayMs = progress.putAsideMs(isConnected: isConnected, nowNs: loop.nowNs) {
      park(forMs: delayMs)
    } else {
      putAsideExcess()
    }
  }

  /// Puts aside what came before it was known that nothing connects, but for those that may wait.
  private func putAsideExcess() {
    guard isOutOfTouch, queued > WorkerLimits.outOfTouchQueueMax else { return }
    var kept = 0
    var tags: [UInt64] = []
    takeOut { tag in
      guard kept == WorkerLimits.outOfTouchQueueMax else {
        kept += 1
        return false
      }
      tags.append(tag)
      return true
    }
    owner.putAside(tags, of: self, forMs: WorkerLimits.outOfTouchDelayMs)
  }

  /// When anything was answered last, in the loop's time.
  var answeredNs: UInt64? { progress.answeredNs }
  /// Whether its pushes wait for a credential that is refused or cannot be obtained.
  var isPaused: Bool { loop.nowNs < authorization.pausedUntilNs }
  /// Whether nothing was answered when it was tried last, not long ago.
  var isStuck: Bool { progress.isStuck(nowNs: loop.nowNs) }

  /// Why its pushes wait, as far as that is known: what the credential lacks, else how connections have ended since the last
  /// answer.
  /// - Parameter nowMs: epoch milliseconds, which the end of a certificate is compared with.
  func hindrance(nowMs: Int64) -> String? {
    if isPaused, let reason = authorization.pauseReason { return reason }
    let parts = [
      provider.credentials.certificate?.cause(nowMs: nowMs), reports.end(since: answeredNs),
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  func park(forMs delayMs: UInt64) {
    let tags = waiting.removeAll()
    transport.rest()
    owner.putAside(tags, of: self, forMs: delayMs)
  }

  /// Sends nothing more, since the configuration has it no more or has another in its place. What waits comes back at once; what
  /// is in flight is still answered.
  func retire() {
    authorization.end()
    credentialSignal.raise()
    let tags = waiting.removeAll() + apart.removeAll()
    transport.rest()
    apart.transport?.rest()
    if !tags.isEmpty { owner.putAside(tags, of: self, forMs: 0) }
  }

  /// Whether the configuration has it no more.
  var isRetired: Bool { authorization.isOver }

  /// Whether it says nothing of the network that a request was not answered: its time ran out, while nearly all of those behind
  /// it are answered.
  func isSilenceItsOwn(_ answer: RequestAnswer) -> Bool {
    answer.elapsedNs >= settings.requestTimeoutMs &* 1_000_000
      && progress.noteSilence(answer, nowNs: loop.nowNs)
  }

  /// The breaker has closed.
  func endTrouble() {
    journal.noteClosed(openMs: (loop.nowNs &- health.breaker.openedNs) / 1_000_000)
  }

  func close() {
    waiting.batchTimer?.cancel()
    transport.close()
    apart.transport?.close()
    credentialSignal.raise()
  }
}

extension Destination: TransportDelegate {
  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    guard let credential else { return }
    let isApart = transport === apart.transport
    // Probes tell more of those that are not in quarantine.
    if isApart, health.breaker.state != .closed { return }
    var left = health.allowance(
      of: count, over: transport, isUntriedBounded: batches == nil, nowNs: loop.nowNs)
    if let batches {
      let sent = submit(batches, requestsMax: left, isApart: isApart, credential, taker)
      return health.noteSent(sent, nowNs: loop.nowNs)
    }
    if !limits.isEmpty { left = allowance(of: left) }
    var sent = 0
    while left > 0, let tag = isApart ? nextApart() : waiting.popFirst() {
      switch owner.submit(tag, to: self, with: credential, in: taker) {
      case .sent:
        left -= 1
        sent += 1
      case .withdrawn: break
      case .blocked: left = 0
      }
    }
    health.noteSent(sent, nowNs: loop.nowNs)
    if !limits.isEmpty { spend(sent) }
    if isApart {
      if apart.queue.count == 0 { transport.rest() }
      return
    }
    if waiting.single < queueTarget / 2 { owner.destinationRanLow(self) }
    if waiting.single == 0 { transport.rest() }
  }

  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign
  {
    let isApart = transport === apart.transport
    (reports.sign, reports.isApart) = (.none, isApart)
    health.noteEnd()
    if answer.disposition == .answered { progress.noteAnswer(answer, nowNs: loop.nowNs) }
    owner.receive(answer, to: tag, from: self)
    if isApart {
      let isUseless = noteEndApart(answer)
      if apart.queue.count > 0 { transport.wake() }
      if isUseless { return .useless }
    }
    return answer.disposition == .answered ? reports.sign : sign(ofSilence: answer)
  }

  func transport(_ transport: any Transport, connectionOpened total: Int) {
    if transport === apart.transport {
      apart.noteOpened()
      return transport.wake()
    }
    progress.forgetWait()
    progress.noteTouch()
    reports.noteOpened()
    wake()
  }

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    if end != .closed {
      reports.noteEnd(end, nowNs: loop.nowNs)
      if transport !== apart.transport, queued > 0, transport.readyConnections == 0 {
        progress.noteLoss(nowNs: loop.nowNs)
      }
    }
    journal.noteEnd(end)
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {
    reports.noteReplaced(trouble, nowNs: loop.nowNs)
    journal.noteReplaced(trouble)
  }
}
