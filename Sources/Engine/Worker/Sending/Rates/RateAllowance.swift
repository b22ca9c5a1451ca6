internal import Model
internal import Reactor

/// The calls by which the lane's part of a rate asks things of its lane. The protocol does not name `RateAllowance`.
protocol RateAllowanceOwner<Allowance>: AnyObject {
  associatedtype Allowance: AnyObject
  /// Pushes that wait for it.
  func waiting(for allowance: Allowance) -> Int
  /// The allowance wants so many more; `granted` or `failed` follows.
  func allowance(_ allowance: Allowance, asksFor count: Int)
  /// There is something to send with.
  func allowanceWasFilled(_ allowance: Allowance)
}

/// A lane's part of a rate that the fleet keeps to: what it has drawn and not used; loop-bound.
///
/// An allowance draws what waits, and more when it draws often, ahead of need: so neither a push costs a command nor
/// does a lane hoard what others need.
final class RateAllowance {
  private(set) var limit: RateLimit
  /// The numbers of the destinations that keep to it.
  private(set) var destinations: [Int] = []
  private let loop: EventLoop
  private unowned let owner: any RateAllowanceOwner<RateAllowance>
  private var timer: LoopTimer!
  /// How much of the rate the network takes.
  private var learned: LearnedRate
  private var batch = 1
  private var unused = 0
  private var validUntilNs: UInt64 = 0
  private var askedNs: UInt64 = 0
  private var isAsking = false
  /// Pushes set aside that are still to come back, as far as the rate lets one guess.
  private var setAside = 0.0
  private var setAsideNs: UInt64 = 0

  init(limit: RateLimit, loop: EventLoop, owner: any RateAllowanceOwner<RateAllowance>) {
    self.limit = limit
    self.loop = loop
    self.owner = owner
    learned = LearnedRate(full: limit.perSecond)
    timer = LoopTimer(loop: loop) { [weak self] in self?.refill() }
  }

  deinit { timer.cancel() }

  /// Another destination keeps to it.
  func join(_ destination: Int) { destinations.append(destination) }

  /// A destination keeps to it no more.
  func leave(_ destination: Int) { destinations.removeAll { $0 == destination } }

  /// The rate has another width from now on.
  func change(to limit: RateLimit) {
    self.limit = limit
    learned = LearnedRate(full: limit.perSecond)
    unused = min(unused, batchMax)
  }

  /// The rate as the network is known to take it.
  var current: RateLimit {
    RateLimit(
      name: limit.name, perSecond: perSecond, isOfApp: limit.isOfApp, rampMs: limit.rampMs)
  }

  private var perSecond: Double { learned.perSecond(nowNs: loop.nowNs) }

  /// The network refused a push as one too many, which was sent then.
  func noteRefused(sentNs: UInt64) {
    guard learned.noteRefused(sentNs: sentNs, nowNs: loop.nowNs) else { return }
    unused = min(unused, batchMax)
  }

  /// The most that is drawn at a time.
  private var batchMax: Int {
    max(1, Int(perSecond * Double(WorkerLimits.allowanceMs) / 1_000))
  }

  /// How many pushes may be sent now.
  var available: Int { loop.nowNs < validUntilNs ? unused : 0 }

  /// How many pushes may wait for it before no more are resolved.
  var queueMax: Int {
    let share = Int(perSecond * Double(WorkerLimits.limitedQueueMs) / 1_000)
    return min(max(share, WorkerLimits.limitedQueueMin), WorkerLimits.limitedQueueMax)
  }

  /// Whether it is on its way to more.
  var isWaiting: Bool {
    isAsking || timer.isArmed || loop.nowNs &- askedNs < WorkerLimits.allowanceLifeMs &* 1_000_000
  }

  func spend(_ count: Int) {
    unused = max(0, unused - count)
    learned.noteSent(count, nowNs: loop.nowNs)
  }

  /// Draws more when that is time.
  func refill() {
    guard !isAsking, !timer.isArmed else { return }
    let isBusy = loop.nowNs &- askedNs < 2 * WorkerLimits.allowanceMs * 1_000_000
    let waiting = owner.waiting(for: self)
    guard available < max(waiting, isBusy ? batch / 4 : 0) else { return }
    batch = min(batchMax, max(1, waiting - available, isBusy ? 2 * batch : 0))
    isAsking = true
    askedNs = loop.nowNs
    owner.allowance(self, asksFor: batch)
  }

  func granted(_ count: Int, retryMs: UInt64) {
    isAsking = false
    unused = available + count
    validUntilNs = askedNs &+ WorkerLimits.allowanceLifeMs &* 1_000_000
    if count < batch { timer.schedule(afterMs: retryMs) }
    if count > 0 { owner.allowanceWasFilled(self) }
  }

  /// Redis could not be asked: nothing is sent without an allowance.
  func failed() {
    isAsking = false
    timer.schedule(afterMs: WorkerLimits.redisPauseMs)
  }

  func close() { timer.cancel() }

  /// Sets a push aside. - Returns: for how long; in whole seconds, so that what is set aside together comes back
  /// as one chunk.
  func setAsideMs() -> UInt64 {
    let passed = Double(loop.nowNs &- setAsideNs) / 1_000_000_000 * perSecond
    setAside = max(0, setAside - passed) + 1
    setAsideNs = loop.nowNs
    return (delayMs(for: Int(setAside)) + 999) / 1_000 * 1_000
  }

  /// How long so many pushes take, within bounds.
  func delayMs(
    for pushes: Int, atLeastMs: UInt64 = WorkerLimits.limitedDelayMsMin
  ) -> UInt64 {
    let ms = UInt64(min(Double(pushes) / perSecond, 3_600) * 1_000)
    return min(max(ms, atLeastMs), WorkerLimits.limitedDelayMsMax)
  }
}
