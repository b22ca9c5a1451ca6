internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// The path of a push on one lane: from a run's table into a destination's queue, onto a connection,
/// and from the answer to a decision. No tasks, no awaiting, and nothing allocated per push; loop-bound.
final class Dispatcher {
  let loop: EventLoop
  let directory: ProviderDirectory
  /// Where other workers can send to.
  let fleet: FleetRoutes
  let policy = RetryPolicy()
  let settings: DispatcherSettings
  let log: Logger
  let runs: RunTable
  /// Requests of several pushes that are in flight.
  var batches = BatchTable()
  /// The body of a request in which texts are filled in, from when it is made until it is submitted.
  var filled: [UInt8] = []
  private(set) var destinations: [Destination?]
  /// The destinations where pushes wait, and some where none do any more: there may be thousands besides.
  private var waiting: [Destination] = []
  var latency = LatencyHistogram()
  var accepted = 0
  /// Pushes that were submitted.
  private var sent = 0
  /// Recipients whose bindings are being read, by rank.
  private var resolving = [Int](repeating: 0, count: PushQueue.ranks)
  private var distance = Distance()
  private var throughput = Throughput()
  /// How far away Redis is.
  var roundTripNs: () -> UInt64 = { 0 }
  /// The time that is passing while pushes leave.
  var nowNs: () -> UInt64
  let reasons: ReasonLog
  private let clock: FleetClock

  /// The switches that are off.
  private(set) var switches = Switches()
  /// The rates that its destinations keep to, by name, and those that are a whole app's by app.
  var allowances: [String: RateAllowance] = [:]
  var appAllowances: [String: RateAllowance] = [:]
  /// By app: how many of its jobs the lane may have in hand when it begins another one from its entry; those without a low rate
  /// are missing.
  let directJobsMax: [String: Int]
  /// Called with a rate's name and how much of it is to be drawn.
  var onAllowance: ((String, Int) -> Void)?

  /// Called when a destination is first used, to have its credential looked after.
  var onNewDestination: ((Int) -> Void)?

  init(
    loop: EventLoop, runs: RunTable, directory: ProviderDirectory, fleet: FleetRoutes,
    settings: DispatcherSettings, clock: FleetClock, reasons: ReasonLog,
    log: Logger
  ) {
    self.loop = loop
    nowNs = { loop.nowNs }
    self.runs = runs
    self.directory = directory
    self.fleet = fleet
    self.settings = settings
    self.log = log
    self.clock = clock
    self.reasons = reasons
    destinations = Array(repeating: nil, count: directory.entries.count)
    directJobsMax = Self.directJobsMax(directory)
  }

  /// Applies what is switched off from now on, also for what is in hand.
  func apply(_ switches: Switches) {
    self.switches = switches
    withdrawStopped()
  }

  // MARK: Room

  /// The pushes that are sent no later than those of a priority. Pushes that wait for a rate or a connection do not count: they are
  /// bounded by themselves.
  private func queued(upTo rank: Int) -> Int {
    waiting.reduce(0) { $0 + ($1.keepsToItself ? 0 : $1.crowd(upTo: rank)) }
  }

  /// The pushes that wait to be sent no later than those of a priority, and the recipients that are being read.
  func waiting(upTo priority: Priority) -> Int {
    queued(upTo: priority.rank) + resolving[...priority.rank].reduce(0, +)
  }

  /// Whether more recipients of a priority should be resolved now. What is sent after them takes none of their room. What is
  /// asked of a Redis far away is not here for long, and what is here must last until then.
  func hasRoom(for priority: Priority) -> Bool {
    let (waiting, ahead) = (waiting(upTo: priority), pushesAhead)
    return waiting < WorkerLimits.queuedPushesMax
      || waiting < WorkerLimits.queuedPushesMax + ahead
        && queued(upTo: priority.rank) < WorkerLimits.queuedPushesMax + ahead / 2
  }

  /// Whether more of a run's recipients should be resolved now. A job that is sent from its entry has room behind more than a
  /// chunk has, for all of that leaves soon. But what takes little is to fill no room of those that take much.
  func hasRoom(for run: ChunkRun) -> Bool {
    hasRoom(for: run, mayHaveMore: mayHaveMore)
  }

  /// The same for one of many runs, which need not each look at all others.
  func hasRoom(for run: ChunkRun, mayHaveMore: @autoclosure () -> Bool) -> Bool {
    let priority = run.claim.priority
    if hasRoom(for: priority) { return true }
    guard run.direct != nil, mayHaveMore(), waiting(upTo: priority) < leaving else { return false }
    let (queued, leaving) = inUse(of: run.claim.app).reduce(into: (0, 0)) {
      if !$1.keepsToItself { $0.0 += $1.crowd(upTo: priority.rank) }
      $0.1 += $1.leaving(nowNs: nowNs())
    }
    return queued < max(leaving, WorkerLimits.queuedPushesMax)
  }

  /// How many pushes may wait when a job that is sent from its entry adds its own.
  var directBacklogMax: Int { mayHaveMore ? leaving : usualBacklogMax }

  /// Whether that may be what leaves soon. No chunk that waits for room would find any behind so much.
  var mayHaveMore: Bool { leavesMuch && !isAnyChunkWaiting }

  /// Whether a chunk has recipients that could be resolved now, were there room.
  var isAnyChunkWaiting: Bool {
    guard runs.chunks > 0 else { return false }
    var isAny = false
    runs.forEach { run in
      guard !isAny, run.direct == nil, run.wantsResolving else { return }
      let keepsPace = run.pace.map { !$0.allows && $0.waitMs(nowNs: loop.nowNs) > 0 } ?? false
      isAny = !keepsPace && !isCongested(run)
    }
    return isAny
  }

  /// Whether more leaves soon than may wait in any case.
  private var leavesMuch: Bool { leaving > usualBacklogMax }

  /// Whether it is known that no more leaves soon than may wait in any case.
  var isSlow: Bool { !leavesMuch && throughput.isKnown }

  /// How many pushes were submitted in the last two spans of `WorkerLimits.directSpanMs`, up to what may wait.
  var leaving: Int {
    throughput.look(
      spanNs: WorkerLimits.directSpanMs * 1_000_000, sent: sent, nowNs: nowNs())
    return min(throughput.last + throughput.before, WorkerLimits.directPushesMax)
  }

  private var usualBacklogMax: Int { WorkerLimits.queuedPushesMax + pushesAhead }

  /// How much more to have ready because Redis is far away.
  var pushesAhead: Int {
    distance.pushesAhead(sent: sent, roundTripNs: roundTripNs(), nowNs: loop.nowNs)
  }

  var isFar: Bool { Distance.isFar(roundTripNs()) }

  /// How many recipients to read the bindings of in one trip.
  var resolveBatch: Int {
    isFar ? Limits.chunkRecipientsMax : WorkerLimits.resolveBatchMax
  }

  /// So many pushes were submitted.
  func noteSent(_ count: Int, to destination: Destination) {
    sent += count
    destination.noteSent(count, nowNs: nowNs())
  }

  /// Pushes that were submitted and not answered.
  var inFlight: Int {
    destinations.reduce(batches.pushes - batches.count) { $0 + ($1?.inFlight ?? 0) }
  }
  var connections: Int { destinations.reduce(0) { $0 + ($1?.readyConnections ?? 0) } }

  /// Recipients of this priority and higher ones that are claimed and not resolved, and wait for no rate and no pace.
  /// - Parameter onlyDirect: only those of jobs that are sent from their entries.
  func unresolved(for priority: Priority, onlyDirect: Bool = false) -> Int {
    var sum = 0
    runs.forEach { run in
      if run.claim.priority.rank <= priority.rank, run.wantsResolving, run.pace == nil,
        !onlyDirect || run.direct != nil, !isCongested(run)
      {
        sum += run.lines.count - run.cursor
      }
    }
    return sum
  }

  func takeLatency() -> [(network: Network, boundMs: UInt64, count: Int)] { latency.takeAll() }

  // MARK: Queueing

  /// Leaves a push to a worker that has credentials for it; where there is none, the push is skipped.
  private func leaveToOthers(_ run: ChunkRun, push index: Int) {
    if isExpired(run) { return run.decide(index, .expired, because: .expired) }
    let push = run.pushes[index]
    reasons.note("\(run.claim.app) has no credentials for \(push.network.rawValue) on this worker")
    run.decideUnrouted(index, for: push.environment, attempt: Int(push.attempt) - 1)
  }

  /// Queues a push, apart from the others when it is in quarantine.
  func queue(_ run: ChunkRun, _ index: Int, _ destination: Destination) {
    if !destination.quarantine.isEmpty, setApart(run, index, destination) { return }
    if let batches = destination.batches {
      return destination.gather(run, push: index, in: batches)
    }
    destination.enqueue(PushTag(run, push: index).raw, rank: run.claim.priority.rank)
  }

  /// Remembers that pushes wait in a destination.
  func list(_ destination: Destination) {
    guard !destination.isListed else { return }
    destination.isListed = true
    waiting.append(destination)
  }

  func destination(_ number: Int) -> Destination {
    if let known = destinations[number] { return known }
    let entry = directory.entries[number]
    let destination = Destination(
      number: number, entry: entry,
      limits: entry.limits.map { allowance(of: $0, app: entry.app, for: number) },
      settings: settings.clientSettings(entry.provider.destination), loop: loop,
      journal: DestinationJournal(of: entry, reasons: reasons, log: log), owner: self)
    destinations[number] = destination
    onNewDestination?(number)
    return destination
  }

  // MARK: Housekeeping

  func checkReachable() {
    for destination in destinations { destination?.checkReachable() }
  }

  func close() {
    for destination in destinations { destination?.close() }
    for allowance in allowances.values { allowance.close() }
  }

  // MARK: Time

  /// Epoch milliseconds by Redis's clock, from the loop's: read for each push, so without a system call.
  var wallMs: Int64 { clock.at(loop.nowNs) }

  /// Whether the time of a run's job is over.
  func isExpired(_ run: ChunkRun) -> Bool { isExpired(run.material) }

  func isExpired(_ material: JobMaterial) -> Bool {
    material.expiresAtMs.map { wallMs >= $0 } ?? false
  }
}

// MARK: - What resolvers hand over

extension Dispatcher {
  /// The bindings of so many of a run's recipients are being read.
  func noteResolving(_ run: ChunkRun, _ count: Int) {
    resolving[run.claim.priority.rank] += count
    run.noteReading(true)
  }

  /// Notes that the bindings of so many recipients have been read, or that this failed.
  func noteResolved(_ run: ChunkRun, _ count: Int) {
    resolving[run.claim.priority.rank] -= count
    run.noteReading(false)
  }

  /// Where the pushes of a run go.
  func routes(_ run: ChunkRun) -> Routes {
    Routes(app: run.claim.app, content: run.material.content, directory: directory)
  }

  /// A run's chunk is another worker's by now.
  func noteTakenOver(_ run: ChunkRun) { apply(.stale, run) }

  /// Queues a push, or decides it at once when it cannot be sent.
  func enqueue(_ run: ChunkRun, push index: Int) {
    guard let number = run.pushes[index].route.number else {
      return leaveToOthers(run, push: index)
    }
    let destination = destination(number)
    if let delayMs = destination.parkDelayMs(rank: run.claim.priority.rank) {
      return putAside(run, index, delayMs: delayMs, because: .parked)
    }
    if let delayMs = heldMs(run, index) {
      return putAside(run, index, delayMs: delayMs, because: .switchedOff)
    }
    if let delayMs = overflowMs(run, destination) {
      return putAside(run, index, delayMs: delayMs, because: .rateLimited)
    }
    // It was held back a moment ago, and so has no badge yet.
    if run.material.raisesBadge, run.pushes[index].badge == 0,
      run.material.content.showsRaisedBadge(on: destination.network), !run.material.content.dryRun
    {
      return putAside(run, index, delayMs: 0, because: .parked)
    }
    queue(run, index, destination)
  }

  /// Whether a push would be put aside instead of queued, as things stand.
  func holdsBack(
    _ run: ChunkRun, _ route: Route, _ network: Network, _ user: UnsafeRawBufferPointer
  ) -> Bool {
    guard let number = route.number else { return true }
    let destination = destination(number)
    return destination.parkDelayMs(rank: run.claim.priority.rank) != nil
      || overflowMs(run, destination) != nil
      || heldMs(run, network, user) != nil
  }

  /// Sends what was queued, at the end of this turn.
  func wake() {
    waiting.removeAll { destination in
      guard !destination.hasWaiting else { return false }
      destination.isListed = false
      return true
    }
    for destination in waiting { destination.wake() }
  }
}
