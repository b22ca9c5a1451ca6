internal import Reactor
internal import Store

/// The chunks that a lane has in hand, each in a place of its own, and jobs that it sends from their entries; loop-bound.
final class RunTable {
  /// With some to spare: jobs become chunks while others are being claimed.
  private static let places =
    WorkerLimits.farRunsMax + WorkerLimits.farDirectRunsMax + 2 * WorkerLimits.farClaimMax
    + WorkerLimits.lingeringRunsMax
  private var runs: [ChunkRun?] = Array(repeating: nil, count: places)
  private var generations = [UInt8](repeating: 0, count: places)
  /// Places without a run, the next one last.
  private var free = Array((0..<places).reversed())
  /// Since when the run of a place is one of `lingering`, in the loop's time; 0 while it is none.
  private var lingersSince = [UInt64](repeating: 0, count: places)
  /// The jobs that are sent from their entries, by `JobEntry.source`: of several that came by the same entry id the latest.
  private var direct: [String: DirectJob] = [:]
  /// How many they are.
  private var directCount = 0

  var count: Int { Self.places - free.count }
  /// How many of them are chunks.
  var chunks: Int { count - directCount }
  /// How many of these only wait for answers, and take no other chunk's room.
  private(set) var lingering = 0

  var all: [ChunkRun] { runs.compactMap { $0 } }
  /// The runs whose chunks stand in a stream.
  var claimed: [ChunkRun] { runs.compactMap { $0.flatMap { $0.direct == nil ? $0 : nil } } }
  /// Entries of jobs that are sent from them.
  var directEntries: [JobEntry] { runs.compactMap { $0?.direct?.entry } }

  /// Loops over `all` without making a list: destinations that run low ask at each flush of a connection.
  func forEach(_ body: (ChunkRun) -> Void) {
    // The places that are free are mostly the last ones.
    var left = count
    for run in runs {
      guard left > 0 else { return }
      if let run {
        left -= 1
        body(run)
      }
    }
  }

  var freeSlot: Int? { free.last }

  /// How many chunks it may have.
  var chunksMax = WorkerLimits.runsMax

  /// How many more chunks there is room for.
  var freeSlots: Int { max(0, chunksMax - (chunks - lingering)) }

  /// How many more jobs may be sent from their entries, of so many; less than 0 when there are more. What such a job leaves
  /// behind when it has become a chunk is another's room only when that is done.
  func freeDirect(of max: Int) -> Int {
    min(max - directCount, chunksMax + max - (count - lingering) - freeSlots)
  }

  /// Has a chunk that only waits for answers leave its room to another, while there are not too many such chunks. One answer
  /// that does not come would hold up as much as a whole chunk otherwise.
  /// - Returns: whether there is room now where there was none.
  func letLinger(_ run: ChunkRun) -> Bool {
    guard mayLinger(run) else { return false }
    let wasFull = freeSlots == 0
    lingersSince[run.slot] = max(1, run.loop.nowNs)
    lingering += 1
    return wasFull
  }

  /// Whether a chunk would leave its room to another now.
  func mayLinger(_ run: ChunkRun) -> Bool {
    run.onlyWaits && lingersSince[run.slot] == 0 && lingering < WorkerLimits.lingeringRunsMax
  }

  func isLingering(_ run: ChunkRun) -> Bool {
    runs[run.slot] === run && lingersSince[run.slot] > 0
  }

  /// Whether a chunk has lingered for so long that its job is to go on beside it. Says so once: where all answers take a moment,
  /// none of them does.
  func isToBePassed(_ run: ChunkRun) -> Bool {
    guard isLingering(run), run.onlyWaits, !run.claim.isResidual,
      run.loop.nowNs >= lingersSince[run.slot],
      run.loop.nowNs - lingersSince[run.slot] >= WorkerLimits.checkpointMs * 1_000_000
    else { return false }
    lingersSince[run.slot] = .max
    return true
  }

  /// Puts a run into its place.
  func add(_ run: ChunkRun) {
    generations[run.slot] &+= 1
    run.enter(generation: generations[run.slot])
    // Nearly always the place that `freeSlot` has named.
    if let place = free.lastIndex(of: run.slot) { free.remove(at: place) }
    if let job = run.direct {
      direct[job.entry.source] = job
      directCount += 1
    }
    runs[run.slot] = run
    run.beginTrace()
  }

  /// A job that was sent from its entry is a chunk from now on.
  func become(_ run: ChunkRun, _ claim: ChunkClaim) {
    forgetEntry(of: run)
    run.become(claim)
  }

  func remove(_ run: ChunkRun) {
    guard runs[run.slot] === run else { return }
    forgetEntry(of: run)
    runs[run.slot] = nil
    if lingersSince[run.slot] > 0 {
      lingersSince[run.slot] = 0
      lingering -= 1
    }
    run.endTrace()
    free.append(run.slot)
  }

  private func forgetEntry(of run: ChunkRun) {
    guard let job = run.direct else { return }
    directCount -= 1
    if direct[job.entry.source] === job { direct[job.entry.source] = nil }
  }

  subscript(slot: Int) -> ChunkRun? { runs[slot] }

  /// The run of a push; nil when it has ended.
  subscript(tag: PushTag) -> ChunkRun? {
    guard let run = runs[tag.slot], run.generation == tag.generation else { return nil }
    return run
  }

  /// The run that carries this chunk already.
  func run(carrying claim: ChunkClaim) -> ChunkRun? {
    runs.lazy.compactMap { $0 }.first {
      $0.claim.entry == claim.entry && $0.claim.priority == claim.priority
    }
  }

  func isCarrying(_ claim: ChunkClaim) -> Bool { run(carrying: claim) != nil }

  /// Whether a job that is sent from its entry has become this chunk, and the reply that says so has not come.
  func isBecoming(_ claim: ChunkClaim) -> Bool {
    guard let job = direct[claim.source] else { return false }
    return job.admission.digest == claim.digest && job.admission.id == claim.job
  }

  /// Whether a job is sent from this entry already: another may have come by the same entry id.
  func isCarrying(_ entry: JobEntry) -> Bool { direct[entry.source]?.entry.text == entry.text }
}
