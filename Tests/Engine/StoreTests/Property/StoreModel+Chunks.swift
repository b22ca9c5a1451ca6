import Model

@testable import Store

extension StoreModel {
  typealias Lease = ModelStream<ModelChunk>.Lease

  /// A freshly owned chunk: what its claim is to be, or nil when it is cleared away.
  private mutating func claimed(_ lease: Lease) -> Lease? {
    var lease = lease
    let priority = lease.item.priority
    guard state(for: lease.item) == .running else {
      chunks[priority]!.drop(lease.number)
      route(lease.item)
      return nil
    }
    lease.item.crashes += lease.deliveries - 1
    guard lease.item.crashes < Self.crashesMax else {
      chunks[priority]!.drop(lease.number)
      bury(lease.item, reason: "crashed_workers")
      return nil
    }
    return lease
  }

  mutating func claim(_ consumer: String, max: Int) -> [Lease] {
    var claims: [Lease] = []
    var seen = 0
    for priority in [Priority.high, .normal, .low] {
      while claims.count < max && seen < max + Self.passedOverMax {
        let wanted = max - claims.count
        let new = chunks[priority]!.readNew(consumer, max: wanted)
        seen += new.count
        for lease in new where !lease.isNamed {
          if let claim = claimed(lease) { claims.append(claim) }
        }
        if new.count < wanted { break }
      }
    }
    return claims
  }

  mutating func reclaim(_ consumer: String, max: Int, any: Bool) -> [Lease] {
    var claims: [Lease] = []
    for priority in [Priority.high, .normal, .low] where claims.count < max {
      let found = chunks[priority]!.readAbandoned(consumer, max: max - claims.count, any: any)
      for var lease in found {
        guard lease.isNamed else {
          if let claim = claimed(lease) { claims.append(claim) }
          continue
        }
        // Only who is named may have it: it is added again.
        lease.item.crashes = min(Self.crashesMax, lease.item.crashes + lease.deliveries - 1)
        chunks[priority]!.drop(lease.number)
        route(lease.item)
      }
    }
    return claims
  }

  private mutating func bury(_ chunk: ModelChunk, reason: String) {
    letters.append(
      ModelLetter(
        reason: reason, chunk: chunk, segment: segments[chunk.place]!, priority: chunk.priority))
    close(chunk, as: \.failed)
  }

  private func standing(_ chunk: ModelChunk) -> WorkStanding {
    switch state(for: chunk) {
    case .paused: .paused
    case .cancelled: .cancelled
    default: .ok
    }
  }

  mutating func heartbeat(_ run: ModelRun, _ consumer: String) -> WorkStanding {
    let priority = run.chunk.priority
    guard let lease = chunks[priority]!.lease(run.claim.entry, of: consumer) else { return .stale }
    chunks[priority]!.renew(lease.number)
    return standing(lease.item)
  }

  mutating func handBack(_ run: ModelRun, isLater: Bool, _ consumer: String) -> Int {
    let priority = run.chunk.priority
    guard var lease = chunks[priority]!.lease(run.claim.entry, of: consumer) else { return 0 }
    lease.item.crashes += lease.deliveries - 1
    chunks[priority]!.drop(lease.number)
    route(lease.item, isLater: isLater)
    return 1
  }

  mutating func bury(_ run: ModelRun, reason: String, _ consumer: String) -> Bool {
    let priority = run.chunk.priority
    guard let lease = chunks[priority]!.lease(run.claim.entry, of: consumer) else { return false }
    chunks[priority]!.drop(lease.number)
    if state(for: lease.item) == .running {
      bury(lease.item, reason: reason)
    } else {
      route(lease.item)
    }
    return true
  }

  /// At most `max` of what is due; of which and in which order they arrive is Redis' to say.
  /// - Parameter left: what Redis has left in the delayed set.
  /// - Returns: how many are to be taken, how many were, and whether more waits.
  mutating func promote(
    max: Int, left: Set<ModelChunk>
  ) -> (expected: Int, taken: Int, areMore: Bool) {
    let due = delayed.filter(\.isDue).map(\.chunk)
    let taken = due.filter { !left.contains($0) }
    delayed.removeAll { $0.isDue && !left.contains($0.chunk) }
    for chunk in taken { route(chunk) }
    return (min(max, due.count), taken.count, !delayed.isEmpty)
  }

  /// All delayed work falls due.
  mutating func hurry() {
    for index in delayed.indices { delayed[index].isDue = true }
    for id in jobs.keys { jobs[id]!.startsLater = false }
  }

  mutating func settle(_ run: ModelRun, _ report: ModelReport, _ consumer: String) -> SettleAnswer {
    let stale = SettleAnswer(standing: .stale, uninstalled: 0, kept: 0)
    let chunk = run.chunk
    guard let lease = chunks[chunk.priority]!.lease(run.claim.entry, of: consumer) else {
      return stale
    }
    guard let segment = segments[chunk.place] else {
      complaints.append("the leased chunk \(chunk) has no segment")
      return stale
    }
    let known = segment.done
    var answer = SettleAnswer(standing: standing(chunk), uninstalled: 0, kept: 0)
    if !report.isFinal && known == report.done {
      // Another may have told the same, and have left other devices open.
      guard segment.recipients.suffix(report.stillOpen.count) == report.stillOpen[...] else {
        return stale
      }
      chunks[chunk.priority]!.renew(lease.number)
      return answer
    }
    // Somebody else had the chunk in between and told more of it.
    guard known == report.told else { return stale }
    var fates: [TokenFate] = []
    for effect in report.effects {
      let removed = apply(effect, of: chunk)
      if effect.isInvalidation { fates.append(removed > 0 ? .removed : .kept) }
    }
    answer = SettleAnswer(
      standing: answer.standing, uninstalled: fates.count { $0 == .removed },
      kept: fates.count { $0 == .kept }, fates: fates)
    for (isLater, names) in report.residuals {
      jobs[chunk.job]!.residuals += 1
      jobs[chunk.job]!.chunks += 1
      let residual = ModelChunk(
        job: chunk.job, segment: "r\(jobs[chunk.job]!.residuals)", source: chunk.source,
        priority: chunk.priority, lines: .installations)
      segments[residual.place] = ModelSegment(recipients: names)
      route(residual, isLater: isLater)
    }
    segments[chunk.place]!.recipients += report.stillOpen
    if report.isFinal {
      chunks[chunk.priority]!.drop(lease.number)
      close(chunk)
    } else {
      segments[chunk.place]!.done = report.done
      chunks[chunk.priority]!.renew(lease.number)
    }
    return answer
  }

  /// - Returns: how many tokens were removed.
  mutating func apply(_ effect: ModelReport.Effect, of chunk: ModelChunk) -> Int {
    switch effect {
    case .resolved(let user, let installations):
      end(user, of: chunk.job)
      jobs[chunk.job]!.total += installations.count - 1
      if installations.isEmpty { jobs[chunk.job]!.counts.noInstallations += 1 }
      for name in installations where !jobs[chunk.job]!.open.insert(name).inserted {
        complaints.append("\(name) of \(chunk.job) was resolved twice")
      }
    case .ended(let name, _, let outcome):
      end(name, of: chunk.job)
      jobs[chunk.job]!.counts[keyPath: outcome] += 1
    case .invalid(let name, let verdict):
      end(name, of: chunk.job)
      let isRemoved = invalidate(verdict) == .removed
      if isRemoved {
        jobs[chunk.job]!.counts.uninstalled += 1
      } else {
        jobs[chunk.job]!.counts.rejected += 1
      }
      return isRemoved ? 1 : 0
    case .retried: jobs[chunk.job]!.counts.retries += 1
    }
    return 0
  }

  // MARK: Dead letters

  /// Stands for the entry that Redis chooses for a job that is queued again.
  static let anyEntry = ShardEntry(shard: .only, id: .zero)

  mutating func retry(_ letter: ModelLetter) -> DeadRetryAnswer {
    guard let index = letters.firstIndex(where: { $0.entry == letter.entry }) else {
      return .absent
    }
    guard let chunk = letter.chunk else {
      letters.remove(at: index)
      let spec = ModelJobEntry(letter.text)
      if let job = jobs[spec.id], job.state == .refused,
        job.source == JobSource.of(letter.jobEntry, letter.priority)
      {
        jobs[spec.id] = nil
      }
      entries[letter.priority]!.add(spec)
      return .retried(entry: Self.anyEntry)
    }
    guard var job = jobs[chunk.job], job.source == chunk.source else { return .gone }
    if job.isFinished && job.counts.failed == 0 { return .gone }
    if job.state == .cancelled && !job.isFinished { return .ending }
    letters.remove(at: index)
    job.residuals += 1
    job.chunks += 1
    var retried = chunk
    retried.crashes = 0
    retried.segment = "\(chunk.lines == .users ? "u" : "r")\(job.residuals)"
    segments[retried.place] = letter.segment
    for line in letter.segment.open { job.open.insert(letter.segment.recipients[line]) }
    job.counts.failed -= letter.segment.open.count
    if job.state.isFinal {
      job.state = .running
      job.isFinished = false
    }
    jobs[chunk.job] = job
    route(retried)
    return .retried(entry: nil)
  }

  mutating func drop(_ letter: ModelLetter) -> Bool {
    guard let index = letters.firstIndex(where: { $0.entry == letter.entry }) else { return false }
    letters.remove(at: index)
    return true
  }
}
