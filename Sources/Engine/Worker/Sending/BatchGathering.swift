/// Pushes of one job that wait for others of it, chunk by chunk; loop-bound.
struct BatchGathering {
  /// Those of one chunk.
  private struct Part {
    let run: ChunkRun
    var tags: [UInt64]
    /// When the first of them came, in the loop's time.
    let sinceNs: UInt64
  }

  let material: JobMaterial
  let rank: Int
  /// In the order in which their first pushes came.
  private var parts: [Part] = []

  init(material: JobMaterial, rank: Int) {
    self.material = material
    self.rank = rank
  }

  var isEmpty: Bool { parts.isEmpty }
  var count: Int { parts.reduce(0) { $0 + $1.tags.count } }
  var tags: [UInt64] { parts.flatMap(\.tags) }

  /// When its first push has waited long enough; not asked of an empty one.
  var dueNs: UInt64 { parts[0].sinceNs &+ WorkerLimits.batchWaitMs &* 1_000_000 }

  mutating func append(_ tag: UInt64, of run: ChunkRun, nowNs: UInt64) {
    if let index = parts.lastIndex(where: { $0.run === run }) {
      parts[index].tags.append(tag)
    } else {
      parts.append(Part(run: run, tags: [tag], sinceNs: nowNs))
    }
  }

  /// Takes out what may leave as one request now.
  /// - Parameter isAwaited: whether more pushes of a job may come to the lane.
  mutating func take(
    upTo pushesMax: Int, nowNs: UInt64, isAwaited: (JobMaterial) -> Bool
  ) -> [UInt64]? {
    // A chunk that fills a request is joined by no other.
    if let full = parts.firstIndex(where: { $0.tags.count >= pushesMax }) {
      return takeFirst(pushesMax, ofPart: full)
    }
    if nowNs >= dueNs || !(mayBeFollowed || isAwaited(material)) {
      return takeWhole(upTo: pushesMax) { _ in true }
    }
    let complete = parts.reduce(0) { $0 + ($1.run.mayBringMore ? 0 : $1.tags.count) }
    return complete < pushesMax ? nil : takeWhole(upTo: pushesMax) { !$0.mayBringMore }
  }

  /// Whether its job may have another chunk, which this lane may be given within the wait.
  private var mayBeFollowed: Bool { parts.allSatisfy(\.run.mayBeFollowed) }

  private mutating func takeFirst(_ count: Int, ofPart index: Int) -> [UInt64] {
    let taken = Array(parts[index].tags.prefix(count))
    parts[index].tags.removeFirst(count)
    if parts[index].tags.isEmpty { parts.remove(at: index) }
    return taken
  }

  /// Takes parts as they are while they fit.
  private mutating func takeWhole(upTo pushesMax: Int, _ isWanted: (ChunkRun) -> Bool) -> [UInt64] {
    var taken: [UInt64] = []
    parts.removeAll { part in
      guard isWanted(part.run), taken.count + part.tags.count <= pushesMax else { return false }
      taken += part.tags
      return true
    }
    return taken
  }

  /// Keeps only what is still to be sent.
  mutating func filter(_ isKept: (UInt64) -> Bool) {
    for index in parts.indices { parts[index].tags.removeAll { !isKept($0) } }
    parts.removeAll(where: \.tags.isEmpty)
  }
}
