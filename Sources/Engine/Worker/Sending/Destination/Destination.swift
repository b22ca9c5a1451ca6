internal import CurlTransport
internal import HTTP2
internal import Model
internal import Providers
internal import Reactor

/// One push network of one app in one environment, as a lane sends to it: its connections, its
/// credential and the pushes that wait; loop-bound.
final class Destination {
  /// Its provider's position in the directory.
  let number: Int
  /// The app, its network and environments there, and its rates.
  let entry: ProviderDirectory.Entry
  // Of the entry, at hand for each push.
  let provider: any PushProvider
  let authority: String
  let network: Network
  let heads = RequestHeads()
  /// The rates that its pushes keep to; empty for most.
  let limits: [RateAllowance]
  let loop: EventLoop
  let journal: DestinationJournal
  unowned let owner: any DestinationOwner<Destination>
  let settings: ClientSettings
  private(set) var transport: (any Transport)!
  private var queue = PushQueue()
  /// The queue instead of `queue` where the network takes several pushes a request; nil where it takes one.
  let batches: BatchQueue?
  /// Rings when pushes have waited long enough for others.
  private(set) var batchTimer: LoopTimer?
  /// Jobs whose pushes are tried apart, the pushes that wait for that, and what carries them; made when it is needed.
  var quarantine = Quarantine()
  var apartQueue = PushQueue()
  var apart: (any Transport)?
  /// When the last of them was answered or the first queued, in the loop's time.
  var apartMovedNs: UInt64 = 0
  /// Only Destination+Credential writes it.
  var authorization = Authorization()
  /// The sign that the request gives of its connection whose end is being heard of.
  var sign = ConnectionSign.none
  /// The last connection that was replaced because it alone was bad.
  private(set) var badConnection: (trouble: ConnectionTrouble, atNs: UInt64)?
  /// Raised when the credential has to be looked after.
  let credentialSignal: LoopSignal
  /// Whether its lane lists it among those where pushes wait.
  var isListed = false
  private(set) var progress = SendingProgress()
  private var throughput = Throughput()
  /// Pushes that were submitted.
  private var sent = 0
  /// Whether it could not be connected to last because no file descriptor was left.
  private(set) var lacksDescriptors = false
  /// How its last connection ended that we did not end, and when, in the loop's time.
  private var lastEnd: (end: ConnectionEnd, atNs: UInt64)?
  private(set) var breaker: Breaker
  /// The reason that opened the breaker, until it is closed.
  private(set) var troubleReason: String?
  /// Whether the network refuses all pushes alike.
  var setup = SetupHold()
  /// Whether the network has ever accepted anything here.
  var isProven = false
  /// The answers that came in place of the network's.
  private(set) var foreignAnswers = ForeignAnswers()

  init(
    number: Int, entry: ProviderDirectory.Entry, limits: [RateAllowance] = [],
    settings: ClientSettings, breaker: Breaker = Breaker(), loop: EventLoop,
    journal: DestinationJournal, owner: any DestinationOwner<Destination>
  ) {
    self.number = number
    self.entry = entry
    provider = entry.provider
    authority = provider.destination.authority
    network = provider.network
    self.limits = limits
    self.loop = loop
    self.journal = journal
    self.owner = owner
    var settings = settings
    settings.acceptedForm = provider.acceptedForm
    self.settings = settings
    self.breaker = breaker
    credentialSignal = LoopSignal(loop: loop)
    let pushesMax = provider.pushesPerRequest
    batches = pushesMax > 1 ? BatchQueue(pushesMax: pushesMax) : nil
    transport = makeTransport(settings)
    if batches != nil {
      batchTimer = LoopTimer(loop: loop) { [weak self] in self?.wake() }
    }
  }

  func makeTransport(_ settings: ClientSettings) -> any Transport {
    provider.destination.acceptsHTTP1
      ? CurlPool(loop: loop, settings: settings, delegate: self)
      : ClientPool(loop: loop, settings: settings, delegate: self)
  }

  var app: String { entry.app }

  /// Pushes that wait to be submitted.
  var queued: Int { batches?.count ?? queue.count }
  func queued(upTo rank: Int) -> Int {
    batches?.count(upTo: rank) ?? queue.count(upTo: rank)
  }
  /// The queued pushes that keep the lane from resolving more of a priority: beyond what fills the next requests.
  func crowd(upTo rank: Int) -> Int {
    guard let batches else { return queue.count(upTo: rank) }
    return max(0, batches.count(upTo: rank) - WorkerLimits.batchesFilledMax * batches.pushesMax)
  }
  var inFlight: Int { transport.inFlight + (apart?.inFlight ?? 0) }
  var readyConnections: Int { transport.readyConnections }

  /// How many pushes it can usefully hold: what its connections carry, and some to refill them with.
  var queueTarget: Int { transport.streamsMax }

  /// How many pushes were submitted in the last two spans of `WorkerLimits.directSpanMs`.
  func leaving(nowNs: UInt64) -> Int {
    noteSent(0, nowNs: nowNs)
    return throughput.last + throughput.before
  }

  func noteSent(_ count: Int, nowNs: UInt64) {
    sent += count
    throughput.look(spanNs: WorkerLimits.directSpanMs * 1_000_000, sent: sent, nowNs: nowNs)
  }

  // MARK: Pushes

  /// Queues a push. Nothing is sent before the end of the turn.
  func enqueue(_ tag: UInt64, rank: Int) {
    queue.append(tag, rank: rank)
    if queue.count == 1 {
      owner.destinationHasWaiting(self)
      transport.wake()
    }
  }

  /// Keeps only what is still to be sent.
  func filterQueue(_ isKept: (UInt64) -> Bool) {
    batches?.filter(isKept)
    for rank in 0..<PushQueue.ranks {
      for _ in 0..<queue.count(rank: rank) {
        guard let tag = queue.popFirst(rank: rank) else { break }
        if isKept(tag) { queue.append(tag, rank: rank) }
      }
      for _ in 0..<apartQueue.count(rank: rank) {
        guard let tag = apartQueue.popFirst(rank: rank) else { break }
        if isKept(tag) { apartQueue.append(tag, rank: rank) }
      }
    }
  }

  /// Takes out of the queue what is to be tried apart, or ended.
  func filterForApart(_ isTaken: (UInt64) -> Bool) {
    batches?.filter { !isTaken($0) }
    for rank in 0..<PushQueue.ranks {
      for _ in 0..<queue.count(rank: rank) {
        guard let tag = queue.popFirst(rank: rank) else { break }
        if !isTaken(tag) { queue.append(tag, rank: rank) }
      }
    }
  }

  /// Whether anything waits in it.
  var hasWaiting: Bool { queued > 0 || apartQueue.count > 0 }

  /// Asks for what waits to be sent, as after a batch was queued.
  func wake() {
    if apartQueue.count > 0 { apart?.wake() }
    let waiting = queued
    guard waiting > 0 else { return }
    owner.destinationHasWaiting(self)
    transport.wake(waiting: waiting)
    if credential == nil { credentialSignal.raise() }
  }

  /// For how long a push of this rank that comes now is to be put aside, rather than fill the room that the lane has for all its
  /// destinations; nil when it may be queued. Where nothing connects some wait all the same, so that it is tried again; the
  /// others come back soon, for a network may be back as soon.
  func parkDelayMs(rank: Int) -> UInt64? {
    if let pauseMs { return pauseMs }
    let isFull = isOutOfTouch && queued(upTo: rank) >= WorkerLimits.outOfTouchQueueMax
    return isFull ? WorkerLimits.outOfTouchDelayMs : nil
  }

  /// For how long nothing is sent at all, and nothing waits here; nil when that is not so.
  var pauseMs: UInt64? {
    let untilNs = max(
      authorization.pausedUntilNs, progress.parkedUntilNs, breaker.openUntilNs, setup.untilNs)
    guard loop.nowNs < untilNs else { return nil }
    // Not for the whole of a long pause: another worker may be able to send it meanwhile.
    return min((untilNs - loop.nowNs) / 1_000_000 + 1, WorkerLimits.parkedDelayMs)
  }

  /// Puts aside what waits when there was no credential, no connection or no answer for too long.
  func checkReachable() {
    if breaker.closeIfIdle(nowNs: loop.nowNs) { endTrouble() }
    checkApart()
    let isConnected = transport.readyConnections > 0 && credential != nil
    if isConnected { progress.noteTouch() }
    guard queued > 0 else { return progress.forgetWait() }
    if let pauseMs { return park(forMs: pauseMs) }
    if isConnected && isStarved && limits.contains(where: \.isWaiting) {
      return progress.forgetWait()
    }
    if !isConnected { transport.wake() }
    guard progress.isStill(isConnected: isConnected, nowNs: loop.nowNs) else { return }
    park(forMs: WorkerLimits.parkedDelayMs)
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
    let end = lastEnd.flatMap { $0.atNs >= answeredNs ?? 0 ? $0.end.logText : nil }
    let parts = [provider.credentials.certificate?.cause(nowMs: nowMs), end].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  func park(forMs delayMs: UInt64) {
    var tags = batches?.removeAll() ?? []
    while let tag = queue.popFirst() { tags.append(tag) }
    batchTimer?.cancel()
    transport.rest()
    owner.putAside(tags, of: self, forMs: delayMs)
  }

  // MARK: The breaker, which is told of each answer by whoever judges it

  /// Something was answered that is no trouble of the network's.
  func noteGood(elapsedNs: UInt64) {
    sign = .good
    if foreignAnswers.isUnbroken { foreignAnswers.end() }
    if breaker.noteGood(nowNs: loop.nowNs, elapsedNs: elapsedNs) {
      endTrouble()
      wake()
    } else if breaker.state == .halfOpen {
      wake()
    }
  }

  /// The network is in trouble, or did not answer.
  /// - Parameter attempt: of the push that it met with, from 1; 0 where that says nothing.
  /// - Returns: what that means for the push.
  func noteTrouble(
    elapsedNs: UInt64, retryAfterMs: UInt64?, attempt: Int = 0, reason: @autoclosure () -> String
  ) -> Breaker.Consequence {
    sign = .trouble
    let wasOpen = breaker.state == .open
    let consequence = breaker.noteTrouble(
      nowNs: loop.nowNs, elapsedNs: elapsedNs, retryAfterMs: retryAfterMs, attempt: attempt)
    if consequence == .opened {
      let reason = reason()
      troubleReason = reason
      journal.noteOpened(because: reason)
    }
    if !wasOpen, breaker.state == .open, let pauseMs, queued > 0 { park(forMs: pauseMs) }
    return consequence
  }

  /// Somebody else answered in the network's place: trouble of what stands before it. While nothing of the network's own
  /// comes, that is no attempt of the push.
  func noteForeign(elapsedNs: UInt64, reason: String) -> Breaker.Consequence {
    let wasUnbroken = foreignAnswers.isUnbroken
    foreignAnswers.note(reason, nowNs: loop.nowNs)
    let consequence = noteTrouble(elapsedNs: elapsedNs, retryAfterMs: nil, reason: reason)
    return consequence == .counted && wasUnbroken ? .forgiven : consequence
  }

  /// `Breaker.noteDecline`.
  func noteDecline() -> Bool { breaker.noteDecline() }

  /// A request ended that says nothing of the network: as a probe it makes room for another.
  func noteNothing(elapsedNs: UInt64) {
    breaker.noteNothing(nowNs: loop.nowNs, elapsedNs: elapsedNs)
    if breaker.state == .halfOpen { wake() }
  }

  /// The network has refused a push because there were too many of them. An app's own rate stays: its owner wants it.
  func noteOverRate(elapsedNs: UInt64) {
    limits.last { !$0.limit.isOfApp }?.noteRefused(sentNs: loop.nowNs &- elapsedNs)
  }

  /// Whether it says nothing of the network that a request was not answered: its time ran out, while nearly all of those behind
  /// it are answered.
  func isSilenceItsOwn(_ answer: RequestAnswer) -> Bool {
    answer.elapsedNs >= settings.requestTimeoutMs &* 1_000_000
      && progress.noteSilence(answer, nowNs: loop.nowNs)
  }

  private func endTrouble() {
    troubleReason = nil
    journal.noteClosed(openMs: (loop.nowNs &- breaker.openedNs) / 1_000_000)
  }

  func close() {
    batchTimer?.cancel()
    transport.close()
    apart?.close()
    credentialSignal.raise()
  }
}

extension Destination: TransportDelegate {
  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    guard let credential else { return }
    let isApart = transport === apart
    // Probes tell more of those that are not in quarantine.
    if isApart, breaker.state != .closed { return }
    var left = min(count, breaker.allowance(nowNs: loop.nowNs))
    if breaker.state == .halfOpen {
      // One connection says nothing of the others.
      left = min(left, Breaker.probesEach(of: transport.readyConnections))
    }
    setup.forgetOld(nowNs: loop.nowNs)
    if !isProven || setup.isHolding { left = min(left, allowance(beside: transport.inFlight)) }
    if breaker.isSlowing {
      let requestsMax = breaker.requestsMax(of: transport.streamsAllowed)
      left = min(left, max(0, requestsMax - transport.inFlight))
    }
    if let batches {
      let sent = submit(batches, requestsMax: left, isApart: isApart, credential, taker)
      if breaker.state == .halfOpen, sent > 0 { breaker.noteProbes(sent, nowNs: loop.nowNs) }
      if setup.isHolding { setup.noteProbes(sent) }
      return
    }
    if !limits.isEmpty { left = allowance(of: left) }
    var sent = 0
    while left > 0, let tag = isApart ? apartQueue.popFirst() : queue.popFirst() {
      switch owner.submit(tag, to: self, with: credential, in: taker) {
      case .sent:
        left -= 1
        sent += 1
      case .withdrawn: break
      case .blocked: left = 0
      }
    }
    if breaker.state == .halfOpen, sent > 0 { breaker.noteProbes(sent, nowNs: loop.nowNs) }
    if setup.isHolding { setup.noteProbes(sent) }
    if !limits.isEmpty { spend(sent) }
    if isApart {
      if apartQueue.count == 0 { transport.rest() }
      return
    }
    if queue.count < queueTarget / 2 { owner.destinationRanLow(self) }
    if queue.count == 0 { transport.rest() }
  }

  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign
  {
    sign = .none
    if setup.isHolding { setup.noteEnd() }
    if answer.disposition == .answered { progress.noteAnswer(answer, nowNs: loop.nowNs) }
    if transport === apart { apartMovedNs = loop.nowNs }
    owner.receive(answer, to: tag, from: self)
    if transport === apart, apartQueue.count > 0 { transport.wake() }
    return answer.disposition == .answered ? sign : sign(ofSilence: answer)
  }

  func transport(_ transport: any Transport, connectionOpened total: Int) {
    if transport === apart { return transport.wake() }
    progress.forgetWait()
    progress.noteTouch()
    lacksDescriptors = false
    wake()
  }

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    if end != .closed {
      lacksDescriptors = end.isOutOfDescriptors
      lastEnd = (end, loop.nowNs)
      if transport !== apart, queued > 0, transport.readyConnections == 0 {
        progress.noteLoss(nowNs: loop.nowNs)
      }
    }
    journal.noteEnd(end)
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {
    badConnection = (trouble, loop.nowNs)
    journal.noteReplaced(trouble)
  }
}
