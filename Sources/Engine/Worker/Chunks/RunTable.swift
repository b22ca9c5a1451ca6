internal import Store

/// The chunks that a lane has in hand, each in a place of its own; loop-bound.
final class RunTable {
  private var runs: [ChunkRun?] = Array(repeating: nil, count: WorkerLimits.runsMax)
  private var generations = [UInt8](repeating: 0, count: WorkerLimits.runsMax)

  var count: Int { runs.count { $0 != nil } }
  var all: [ChunkRun] { runs.compactMap { $0 } }

  /// As a loop over `all`, without making a list: destinations that run low ask at each flush of a connection.
  func forEach(_ body: (ChunkRun) -> Void) {
    for run in runs { if let run { body(run) } }
  }

  var freeSlot: Int? { runs.firstIndex { $0 == nil } }
  var freeSlots: Int { runs.count { $0 == nil } }

  /// Puts a run into its place.
  func add(_ run: ChunkRun) {
    generations[run.slot] &+= 1
    run.enter(generation: generations[run.slot])
    runs[run.slot] = run
  }

  func remove(_ run: ChunkRun) { runs[run.slot] = nil }

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
}
