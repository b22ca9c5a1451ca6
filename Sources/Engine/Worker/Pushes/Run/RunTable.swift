internal import Model
internal import Reactor
internal import Store

/// The chunks that a lane has in hand, each in a place of its own, and jobs that it sends from their entries; loop-bound.
final class RunTable {
  /// With some to spare: jobs become chunks while others are being claimed.
  private static let places =
    WorkerLimits.farRunsMax + WorkerLimits.farDirectRunsMax + 2 * WorkerLimits.farClaimMax
    + WorkerLimits.lingeringRunsMax
  private var runs: [PushRun?] = Array(repeating: nil, count: places)
  /// The chunks among them, by place, and the jobs that are sent from their entries.
  private var chunkRuns: [ChunkRun?] = Array(repeating: nil, count: places)
  private var directRuns: [DirectRun?] = Array(repeating: nil, count: places)
  private var generations = [UInt8](repeating: 0, count: places)
  /// Places without a run, the next one last.
  private var free = Array((0..<places).reversed())
  /// Since when the run of a place is one of `lingering`, in the loop's time; 0 while it is none.
  private var lingersSince = [UInt64](repeating: 0, count: places)
  /// The jobs that are sent from their entries, by `JobEntry.source`: of several that came by the same entry id the latest.
  private var direct: [String: DirectJob] = [:]
  /// How many they are.
  private var directCount = 0
  /// The chunks that went since the lane began to ask Redis for chunks; nil while it does not ask.
  private var gone: Set<Lease>?

  /// The name of a chunk while somebody has it.
  private struct Lease: Hashable {
    let priority: Priority
    let entry: String

    init(_ claim: ChunkClaim) {
      priority = claim.priority
      entry = claim.entry
    }
  }

  var count: Int { Self.places - free.count }
  /// How many of them are chunks.
  var chunks: Int { count - directCount }
  /// How many of these only wait for answers or a connection, and take no other chunk's room.
  private(set) var lingering = 0

  var all: [PushRun] { runs.compactMap { $0 } }
  /// The runs whose chunks stand in a stream.
  var claimed: [ChunkRun] { chunkRuns.compactMap { $0 } }
  /// Entries of jobs that are sent from them.
  var directEntries: [JobEntry] { directRuns.compactMap { $0?.job.entry } }

  /// Loops over `all` without making a list: destinations that run low ask at each flush of a connection.
  func forEach(_ body: (PushRun) -> Void) { Self.forEach(of: count, in: runs, body) }

  /// Loops over the chunks.
  func forEachChunk(_ body: (ChunkRun) -> Void) { Self.forEach(of: chunks, in: chunkRuns, body) }

  /// Loops over the jobs that are sent from their entries.
  func forEachDirect(_ body: (DirectRun) -> Void) {
    Self.forEach(of: directCount, in: directRuns, body)
  }

  @inline(__always)
  private static func forEach<Run>(of count: Int, in places: [Run?], _ body: (Run) -> Void) {
    // The places that are free are mostly the last ones.
    var left = count
    for run in places {
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
  /// - Parameter waitsInSilence: `SendingRoom.waitsInSilence`: a network that nothing connects to holds up as much.
  /// - Returns: whether there is room now where there was none.
  func letLinger(_ chunk: ChunkRun, orIf waitsInSilence: @autoclosure () -> Bool = false) -> Bool {
    guard mayLinger(chunk, orIf: waitsInSilence()) else { return false }
    let wasFull = freeSlots == 0
    lingersSince[chunk.run.slot] = max(1, chunk.run.loop.nowNs)
    lingering += 1
    return wasFull
  }

  /// Whether a chunk would leave its room to another now.
  func mayLinger(_ chunk: ChunkRun, orIf waitsInSilence: @autoclosure () -> Bool = false) -> Bool {
    lingersSince[chunk.run.slot] == 0 && lingering < WorkerLimits.lingeringRunsMax
      && (chunk.onlyWaits || waitsInSilence())
  }

  func isLingering(_ run: PushRun) -> Bool {
    runs[run.slot] === run && lingersSince[run.slot] > 0
  }

  /// Whether a chunk has lingered for so long that its job is to go on beside it. Says so once: where all answers take a moment,
  /// none of them does.
  func isToBePassed(_ chunk: ChunkRun) -> Bool {
    let run = chunk.run
    guard isLingering(run), chunk.onlyWaits, !run.claim.isResidual,
      run.loop.nowNs >= lingersSince[run.slot],
      run.loop.nowNs - lingersSince[run.slot] >= WorkerLimits.checkpointMs * 1_000_000
    else { return false }
    lingersSince[run.slot] = .max
    return true
  }

  /// Puts a chunk into its run's place.
  func add(_ chunk: ChunkRun) {
    enter(chunk.run)
    chunkRuns[chunk.run.slot] = chunk
  }

  /// Puts a job that is sent from its entry into its run's place.
  func add(_ run: DirectRun) {
    enter(run.run)
    directRuns[run.slot] = run
    direct[run.job.entry.source] = run.job
    directCount += 1
  }

  private func enter(_ run: PushRun) {
    // Nearly always the place that `freeSlot` has named.
    if let place = free.lastIndex(of: run.slot) { free.remove(at: place) }
    runs[run.slot] = run
    generations[run.slot] &+= 1
    run.enter(generation: generations[run.slot])
  }

  /// Has a job that was sent from its entry be a chunk from now on.
  func become(_ run: DirectRun, _ claim: ChunkClaim) -> ChunkRun {
    forgetEntry(of: run.run)
    run.run.become(claim)
    let chunk = ChunkRun(run.run)
    chunkRuns[run.slot] = chunk
    return chunk
  }

  func remove(_ run: PushRun) {
    guard runs[run.slot] === run else { return }
    forgetEntry(of: run)
    if let chunk = chunkRuns[run.slot] { gone?.insert(Lease(chunk.claim)) }
    runs[run.slot] = nil
    chunkRuns[run.slot] = nil
    if lingersSince[run.slot] > 0 {
      lingersSince[run.slot] = 0
      lingering -= 1
    }
    run.trace.end()
    free.append(run.slot)
  }

  private func forgetEntry(of run: PushRun) {
    guard let job = directRuns[run.slot]?.job else { return }
    directRuns[run.slot] = nil
    directCount -= 1
    if direct[job.entry.source] === job { direct[job.entry.source] = nil }
  }

  subscript(slot: Int) -> PushRun? { runs[slot] }

  /// The chunk of a place; nil when there is none.
  func chunk(at slot: Int) -> ChunkRun? { chunkRuns[slot] }

  /// The job of a place that is sent from its entry; nil when there is none.
  func direct(at slot: Int) -> DirectRun? { directRuns[slot] }

  /// The run of a push; nil when it has ended.
  subscript(tag: PushTag) -> PushRun? {
    guard let run = runs[tag.slot], run.place.generation == tag.generation else { return nil }
    return run
  }

  /// The chunk that carries this claim already.
  func chunk(carrying claim: ChunkClaim) -> ChunkRun? {
    chunkRuns.lazy.compactMap { $0 }.first {
      $0.claim.entry == claim.entry && $0.claim.priority == claim.priority
    }
  }

  func isCarrying(_ claim: ChunkClaim) -> Bool { chunk(carrying: claim) != nil }

  /// The lane begins to ask Redis for chunks. It ends that by `endAsking`, once all that Redis has named are begun.
  func beginAsking() { gone = [] }

  func endAsking() { gone = nil }

  /// Whether a chunk that Redis has named is none that the lane lacks: it is in hand, or was since the lane began to ask. Others
  /// that were named with it are begun before it, and meanwhile it may have ended: begun once more, it would be sent twice.
  func knows(_ claim: ChunkClaim) -> Bool {
    isCarrying(claim) || isBecoming(claim) || gone?.contains(Lease(claim)) ?? false
  }

  /// Whether a job that is sent from its entry has become this chunk, and the reply that says so has not come.
  private func isBecoming(_ claim: ChunkClaim) -> Bool {
    guard let job = direct[claim.source] else { return false }
    return job.admission.digest == claim.digest && job.admission.id == claim.job
  }

  /// Whether a job is sent from this entry already: another may have come by the same entry id.
  func isCarrying(_ entry: JobEntry) -> Bool { direct[entry.source]?.entry.text == entry.text }
}
