internal import Store

/// Pushes that wait to leave together, of a destination whose network takes several a request; loop-bound.
///
/// A request carries pushes of one job. They leave when there are as many as a request takes, when no more can come, or
/// when the first of them has waited for `WorkerLimits.batchWaitMs`. Chunks are not cut where that can be helped: so after
/// a crash the same chunks make the same requests.
final class BatchQueue {
  /// The pushes that leave as one request.
  struct Draft {
    var tags: [UInt64]
    let rank: Int
    /// The material and wording of halves of a refused request, and how many of its pushes may leave together.
    var material: JobMaterial?
    var wording = Wording()
    var pushesMax = 0

    /// Keeps the first so many. - Returns: the others.
    mutating func split(after count: Int) -> Draft {
      var rest = self
      rest.tags.removeSubrange(..<count)
      tags.removeSubrange(count...)
      return rest
    }
  }

  /// The most that a request takes.
  let pushesMax: Int
  /// By whose turn it is.
  private var gatherings: [BatchGathering] = []
  /// Halves of what was refused, and what a connection did not take. They leave as they are, before all others.
  private var made: [Draft] = []
  private var counts = [Int](repeating: 0, count: PushQueue.ranks)

  init(pushesMax: Int) { self.pushesMax = pushesMax }

  var count: Int { counts[0] + counts[1] + counts[2] }

  /// How many go before another of this rank.
  func count(upTo rank: Int) -> Int { counts[...rank].reduce(0, +) }

  // MARK: In

  /// - Parameters:
  ///   - wording: `Push.wording`.
  ///   - togetherMax: `Push.togetherMax`.
  func append(
    _ run: PushRun, push index: Int, wording: Wording = Wording(), togetherMax: Int = 0,
    nowNs: UInt64
  ) {
    let rank = run.claim.priority.rank
    counts[rank] += 1
    guard togetherMax == 0 else {
      return join(
        Draft(
          tags: [PushTag(run, push: index).raw], rank: rank, material: run.material,
          wording: wording, pushesMax: togetherMax))
    }
    let gathering =
      gatherings.lastIndex {
        $0.material === run.material && $0.wording == wording && $0.rank == rank
      }
      ?? {
        gatherings.append(BatchGathering(material: run.material, wording: wording, rank: rank))
        return gatherings.count - 1
      }()
    gatherings[gathering].append(PushTag(run, push: index).raw, of: run, nowNs: nowNs)
  }

  /// Puts a push back among those that a refusal has narrowed as far. Among all others it would spoil a request again, and
  /// that one's halves again, for as long as its binding grows old on the way.
  private func join(_ draft: Draft) {
    let place =
      draft.pushesMax == 1
      ? nil
      : made.lastIndex {
        $0.material === draft.material && $0.wording == draft.wording && $0.rank == draft.rank
          && $0.pushesMax == draft.pushesMax && $0.tags.count < draft.pushesMax
      }
    if let place { made[place].tags += draft.tags } else { made.append(draft) }
  }

  /// Puts back what could not leave; it leaves next.
  func putBack(_ draft: Draft) {
    guard !draft.tags.isEmpty else { return }
    counts[draft.rank] += draft.tags.count
    made.insert(draft, at: 0)
  }

  /// Has pushes leave as a request of their own.
  func append(_ draft: Draft) {
    guard !draft.tags.isEmpty else { return }
    counts[draft.rank] += draft.tags.count
    made.append(draft)
  }

  // MARK: Out

  /// Takes out the pushes that may leave now: high priority first, and jobs in turn.
  /// - Parameter isAwaited: whether more pushes of a job may come to the lane.
  func popFirst(nowNs: UInt64, isAwaited: (JobMaterial) -> Bool) -> Draft? {
    guard count > 0 else { return nil }
    for rank in 0..<PushQueue.ranks where counts[rank] > 0 {
      if let index = made.firstIndex(where: { $0.rank == rank }) {
        return noteTaken(made.remove(at: index))
      }
      for index in gatherings.indices where gatherings[index].rank == rank {
        guard
          let tags = gatherings[index].take(
            upTo: pushesMax, nowNs: nowNs, isAwaited: isAwaited)
        else { continue }
        // A large job lets the next one go first.
        let gathering = gatherings.remove(at: index)
        if !gathering.isEmpty { gatherings.append(gathering) }
        return noteTaken(Draft(tags: tags, rank: rank))
      }
    }
    return nil
  }

  private func noteTaken(_ draft: Draft) -> Draft {
    counts[draft.rank] -= draft.tags.count
    return draft
  }

  /// When the next that waits for others has waited long enough, in the loop's time; nil when nothing does.
  var dueNs: UInt64? { gatherings.map(\.dueNs).min() }

  /// Takes all out, high priority first.
  func removeAll() -> [UInt64] {
    let tags = (0..<PushQueue.ranks).flatMap { rank in
      made.filter { $0.rank == rank }.flatMap(\.tags)
        + gatherings.filter { $0.rank == rank }.flatMap(\.tags)
    }
    made = []
    gatherings = []
    counts = counts.map { _ in 0 }
    return tags
  }

  /// Keeps only what is still to be sent.
  func filter(_ isKept: (UInt64) -> Bool) {
    for index in made.indices { made[index].tags.removeAll { !isKept($0) } }
    made.removeAll(where: \.tags.isEmpty)
    for index in gatherings.indices { gatherings[index].filter(isKept) }
    gatherings.removeAll(where: \.isEmpty)
    counts = counts.indices.map { rank in
      made.reduce(0) { $0 + ($1.rank == rank ? $1.tags.count : 0) }
        + gatherings.reduce(0) { $0 + ($1.rank == rank ? $1.count : 0) }
    }
  }
}
