internal import Model
internal import Reactor
internal import Store

/// How many pushes may wait to be sent, and whether more recipients are to be resolved: as many as keep the networks busy, for
/// what waits longer grows old; loop-bound.
final class SendingRoom {
  private let loop: EventLoop
  private let runs: RunTable
  private let destinations: DestinationTable
  private let congestion: RateCongestion
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

  init(
    loop: EventLoop, runs: RunTable, destinations: DestinationTable, congestion: RateCongestion
  ) {
    self.loop = loop
    nowNs = { loop.nowNs }
    self.runs = runs
    self.destinations = destinations
    self.congestion = congestion
  }

  // MARK: What takes room

  /// The bindings of so many of a run's recipients are being read.
  func noteResolving(_ run: PushRun, _ count: Int) {
    resolving[run.claim.priority.rank] += count
    run.noteReading(true)
  }

  /// Notes that the bindings of so many recipients have been read, or that this failed.
  func noteResolved(_ run: PushRun, _ count: Int) {
    resolving[run.claim.priority.rank] -= count
    run.noteReading(false)
  }

  /// So many pushes were submitted.
  func noteSent(_ count: Int, to destination: Destination) {
    sent += count
    destination.noteSent(count, nowNs: nowNs())
  }

  /// The pushes that wait to be sent no later than those of a priority, and the recipients that are being read.
  func waiting(upTo priority: Priority) -> Int {
    destinations.crowd(upTo: priority.rank) + resolving[...priority.rank].reduce(0, +)
  }

  /// Recipients of this priority and higher ones that are claimed and not resolved, and wait for no rate and no pace.
  func unresolved(for priority: Priority) -> Int {
    var sum = unresolvedDirect(for: priority)
    runs.forEachChunk { if $0.pace == nil { sum += unresolved($0.run, for: priority) } }
    return sum
  }

  /// Unresolved recipients of jobs alone that are sent from their entries.
  func unresolvedDirect(for priority: Priority) -> Int {
    var sum = 0
    runs.forEachDirect { sum += unresolved($0.run, for: priority) }
    return sum
  }

  private func unresolved(_ run: PushRun, for priority: Priority) -> Int {
    guard run.claim.priority.rank <= priority.rank, run.wantsResolving,
      !congestion.isCongested(run)
    else { return 0 }
    return run.lines.count - run.cursor
  }

  /// Whether a chunk has recipients that could be resolved now, were there room.
  var isAnyChunkWaiting: Bool {
    guard runs.chunks > 0 else { return false }
    var isAny = false
    runs.forEachChunk { chunk in
      guard !isAny, chunk.run.wantsResolving else { return }
      isAny = !chunk.isHeldByPace && !congestion.isCongested(chunk.run)
    }
    return isAny
  }

  // MARK: Room

  /// Whether more recipients of a priority should be resolved now. What is sent after them takes none of their room. What is
  /// asked of a Redis far away is not here for long, and what is here must last until then.
  func hasRoom(for priority: Priority) -> Bool {
    let (waiting, ahead) = (waiting(upTo: priority), pushesAhead)
    return waiting < WorkerLimits.queuedPushesMax
      || waiting < WorkerLimits.queuedPushesMax + ahead
        && destinations.crowd(upTo: priority.rank) < WorkerLimits.queuedPushesMax + ahead / 2
  }

  /// Whether more of a job's recipients should be resolved now. One that is sent from its entry has room behind more than a
  /// chunk has, for all of that leaves soon. But what takes little is to fill no room of those that take much.
  func hasRoom(for direct: DirectRun) -> Bool {
    hasRoom(for: direct, mayHaveMore: mayHaveMore)
  }

  /// Whether more of the recipients of one of many jobs should be resolved now: each need not look at all others.
  func hasRoom(for direct: DirectRun, mayHaveMore: @autoclosure () -> Bool) -> Bool {
    let priority = direct.priority
    if hasRoom(for: priority) { return true }
    guard mayHaveMore(), waiting(upTo: priority) < leaving else { return false }
    let (queued, leaving) = destinations.used(by: direct.run.claim.app).reduce(into: (0, 0)) {
      if !$1.keepsToItself { $0.0 += $1.crowd(upTo: priority.rank) }
      $0.1 += $1.leaving(nowNs: nowNs())
    }
    return queued < max(leaving, WorkerLimits.queuedPushesMax)
  }

  /// Whether a chunk has recipients that should be resolved now, and would not only wait for a rate.
  func mayResolve(_ chunk: ChunkRun) -> Bool {
    chunk.run.wantsResolving && hasRoom(for: chunk.claim.priority)
      && !congestion.isCongested(chunk.run)
  }

  /// Whether a job that is sent from its entry has recipients that should be resolved now, as of a chunk.
  func mayResolve(_ direct: DirectRun) -> Bool {
    direct.run.wantsResolving && hasRoom(for: direct) && !congestion.isCongested(direct.run)
  }

  /// Whether all that is left of a chunk waits for answers, or for networks that nothing connects to or that answer nothing.
  func waitsInSilence(_ chunk: ChunkRun) -> Bool {
    let run = chunk.run
    guard run.isResolved, !run.underway.isReading, !run.hasStaleBindings else { return false }
    let silent = destinations.used(by: run.claim.app).filter(\.isSilent)
    // Of most chunks more waits than that, and the queues need not be looked at.
    var left = run.openPushes - run.inFlight
    guard left > 0, left <= silent.reduce(0, { $0 + $1.queuedInAll }) else { return false }
    for destination in silent {
      destination.forEachQueued { tag in if runs[PushTag(tag)] === run { left -= 1 } }
    }
    return left == 0
  }

  /// How many pushes may wait when a job that is sent from its entry adds its own.
  var directBacklogMax: Int { mayHaveMore ? leaving : usualBacklogMax }

  /// Whether that may be what leaves soon. No chunk that waits for room would find any behind so much.
  var mayHaveMore: Bool { leavesMuch && !isAnyChunkWaiting }

  private var usualBacklogMax: Int { WorkerLimits.queuedPushesMax + pushesAhead }

  /// Has runs go on that there is room for: a destination runs low.
  func fill() {
    // Those whose last pushes have just left make room for others, and are not looked at by themselves for a while.
    if runs.freeSlots == 0 {
      runs.forEachChunk { chunk in if runs.mayLinger(chunk) { chunk.run.wake() } }
    }
    guard let lowest = Priority.allCases.last(where: hasRoom) else { return }
    runs.forEach { run in
      if run.wantsResolving, run.claim.priority.rank <= lowest.rank { run.wake() }
    }
  }

  // MARK: What leaves

  /// How many pushes were submitted in the last two spans of `WorkerLimits.directSpanMs`, up to what may wait.
  var leaving: Int {
    throughput.look(
      spanNs: WorkerLimits.directSpanMs * 1_000_000, sent: sent, nowNs: nowNs())
    return min(throughput.last + throughput.before, WorkerLimits.directPushesMax)
  }

  /// Whether more leaves soon than may wait in any case.
  private var leavesMuch: Bool { leaving > usualBacklogMax }

  /// Whether it is known that no more leaves soon than may wait in any case.
  var isSlow: Bool { !leavesMuch && throughput.isKnown }

  // MARK: How far away Redis is

  /// How much more to have ready because Redis is far away.
  var pushesAhead: Int {
    distance.pushesAhead(sent: sent, roundTripNs: roundTripNs(), nowNs: loop.nowNs)
  }

  var isFar: Bool { Distance.isFar(roundTripNs()) }

  /// How many recipients to read the bindings of in one trip.
  var resolveBatch: Int {
    isFar ? Limits.chunkRecipientsMax : WorkerLimits.resolveBatchMax
  }
}
