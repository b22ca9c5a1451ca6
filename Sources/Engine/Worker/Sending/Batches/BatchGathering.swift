/// Pushes of one job that wait for others of it, chunk by chunk; loop-bound.
struct BatchGathering {
  /// The pushes of one chunk.
  private struct Part {
    let run: PushRun
    var tags: [UInt64]
    /// When the first of them came, in the loop's time.
    let sinceNs: UInt64

    /// When it has waited long enough.
    var dueNs: UInt64 { sinceNs &+ WorkerLimits.batchWaitMs &* 1_000_000 }

    /// Whether it may leave as it is: its chunk brings no more, or has waited long enough.
    func isReady(_ nowNs: UInt64) -> Bool { nowNs >= dueNs || !run.mayBringMore }
  }

  let material: JobMaterial
  let wording: Wording
  let rank: Int
  /// In the order in which their first pushes came.
  private var parts: [Part] = []

  init(material: JobMaterial, wording: Wording, rank: Int) {
    self.material = material
    self.wording = wording
    self.rank = rank
  }

  var isEmpty: Bool { parts.isEmpty }
  var count: Int { parts.reduce(0) { $0 + $1.tags.count } }
  var tags: [UInt64] { parts.flatMap(\.tags) }

  /// When its first push has waited long enough; not asked of an empty one.
  var dueNs: UInt64 { parts[0].dueNs }

  mutating func append(_ tag: UInt64, of run: PushRun, nowNs: UInt64) {
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
    let ready = parts.reduce(0) { $0 + ($1.isReady(nowNs) ? $1.tags.count : 0) }
    guard
      ready >= pushesMax || nowNs >= dueNs || !(mayBeFollowed || isAwaited(material))
    else { return nil }
    return takeReady(upTo: pushesMax, nowNs: nowNs)
  }

  /// Whether its job may have another chunk, which this lane may be given within the wait.
  private var mayBeFollowed: Bool { parts.allSatisfy(\.run.mayBeFollowed) }

  private mutating func takeFirst(_ count: Int, ofPart index: Int) -> [UInt64] {
    let taken = Array(parts[index].tags.prefix(count))
    parts[index].tags.removeFirst(count)
    if parts[index].tags.isEmpty { parts.remove(at: index) }
    return taken
  }

  /// Takes parts as they are while they fit. - Returns: nil when none is ready.
  private mutating func takeReady(upTo pushesMax: Int, nowNs: UInt64) -> [UInt64]? {
    var taken: [UInt64] = []
    parts.removeAll { part in
      guard part.isReady(nowNs), taken.count + part.tags.count <= pushesMax else { return false }
      taken += part.tags
      return true
    }
    return taken.isEmpty ? nil : taken
  }

  /// Keeps only what is still to be sent.
  mutating func filter(_ isKept: (UInt64) -> Bool) {
    for index in parts.indices { parts[index].tags.removeAll { !isKept($0) } }
    parts.removeAll(where: \.tags.isEmpty)
  }
}
