import Model

@testable import Store

extension StoreModel {
  /// - Parameters:
  ///   - reclaims: nil to not look for abandoned entries, true to take whatever is leased.
  mutating func take(
    _ consumer: String, max: Int, reclaims: Bool?
  ) -> [(priority: Priority, lease: ModelStream<ModelJobEntry>.Lease)] {
    var taken: [(priority: Priority, lease: ModelStream<ModelJobEntry>.Lease)] = []
    for priority in [Priority.high, .normal, .low] {
      if let reclaims, taken.count < max {
        let left = Swift.min(max - taken.count, takenOverMax)
        for lease in entries[priority]!.readAbandoned(
          consumer, max: left, any: reclaims, suspectsAlone: true)
        {
          if lease.deliveries > Self.crashesMax {
            letters.append(
              ModelLetter(
                reason: "crashed_workers", text: lease.item.text, priority: priority,
                jobEntry: lease.entry))
            entries[priority]!.drop(lease.number)
          } else {
            taken.append((priority, lease))
          }
        }
      }
      while taken.count < max, let lease = entries[priority]!.readNew(consumer, max: 1).first {
        taken.append((priority, lease))
      }
    }
    return taken
  }

  /// Whether the entry that made a reservation still waits to be admitted.
  private func isPending(_ source: String) -> Bool {
    Priority.allCases.contains { priority in
      source.hasPrefix(priority.rawValue.prefix(1))
        && entries[priority]!.has(String(source.dropFirst()))
    }
  }

  func standing(_ id: String, _ digest: String, _ source: String) -> AdmissionAnswer {
    guard let job = jobs[id], job.state != .refused else { return .new }
    if job.source == source { return job.isAdmitted ? .duplicate : .new }
    if !job.isAdmitted && !isPending(job.source) { return .new }
    return job.digest == digest ? .duplicate : .conflict
  }

  mutating func reserve(_ entry: JobEntry, _ id: String, _ digest: String, _ consumer: String)
    -> AdmissionAnswer
  {
    guard let lease = entries[entry.priority]!.lease(entry.entry, of: consumer) else {
      return .stale
    }
    let answer = standing(id, digest, entry.source)
    if answer == .duplicate { entries[entry.priority]!.drop(lease.number) }
    guard answer == .new else { return answer }
    takeName(id, digest, entry.source, entry.priority)
    return jobs[id]?.state == .cancelled ? .cancelled : .new
  }

  private mutating func takeName(
    _ id: String, _ digest: String, _ source: String, _ priority: Priority
  ) {
    // The same entry with the same name: what its record says stays.
    if let job = jobs[id], job.source == source, job.state != .refused { return }
    jobs[id] = ModelJob(state: .queued, source: source, digest: digest, priority: priority)
  }

  mutating func name(
    _ spec: ModelJobEntry, _ entry: String, _ priority: Priority
  ) -> NamingAnswer {
    guard entries[priority]!.has(entry) else { return .gone }
    let source = JobSource.of(entry, priority)
    switch standing(spec.id, spec.digest, source) {
    case .new:
      takeName(spec.id, spec.digest, source, priority)
      return .new
    case .duplicate: return .duplicate
    default: return .conflict
    }
  }

  mutating func admit(
    _ entry: JobEntry, _ admission: Admission, _ recipients: [[String]], _ consumer: String
  ) -> AdmissionAnswer {
    guard let lease = entries[entry.priority]!.lease(entry.entry, of: consumer) else {
      return .stale
    }
    let answer = standing(admission.id, admission.digest, entry.source)
    if answer == .duplicate { entries[entry.priority]!.drop(lease.number) }
    guard answer == .new else { return answer }
    var job = ModelJob(
      state: admission.timing.startAtMs == nil ? .running : .scheduled, source: entry.source,
      digest: admission.digest, priority: entry.priority)
    if let known = jobs[admission.id], known.source == entry.source,
      known.state == .paused || known.state == .cancelled
    {
      job.state = known.state
    }
    job.isAdmitted = true
    job.startsLater = admission.timing.startAtMs != nil
    job.hasStarted = !job.startsLater
    job.lines = admission.audience.lines
    job.segments = recipients.count
    job.window = admission.audience.window
    job.open = Set(recipients.joined())
    job.total = job.open.count
    if job.state == .cancelled { job.cursor = job.segments }
    for (index, names) in recipients.enumerated() {
      let place = SegmentPlace(segment: String(index + 1), source: job.source)
      segments[place] = job.state == .cancelled ? nil : ModelSegment(recipients: names)
    }
    jobs[admission.id] = job
    expand(admission.id, losses: lease.deliveries - 1)
    entries[entry.priority]!.drop(lease.number)
    finishIfEmpty(admission.id)
    return .admitted
  }

  mutating func refuse(_ entry: JobEntry, id: String, reason: String, _ consumer: String) -> Bool {
    guard let lease = entries[entry.priority]!.lease(entry.entry, of: consumer) else {
      return false
    }
    letters.append(
      ModelLetter(
        reason: reason, text: lease.item.text, priority: entry.priority, jobEntry: lease.entry))
    // Not when its id is another job's.
    if standing(id, "", entry.source) == .new {
      jobs[id] = ModelJob(
        state: .refused, source: entry.source, digest: "", priority: entry.priority,
        isFinished: true)
      finished += 1
    }
    entries[entry.priority]!.drop(lease.number)
    return true
  }

  mutating func cancel(_ id: String) -> JobState? {
    if let job = jobs[id], !job.isAdmitted, job.state == .cancelled || !job.state.isFinal,
      !job.source.isEmpty, !isPending(job.source)
    {
      // Its entry is gone: nobody else ends it, and its name is free.
      jobs[id]!.state = .cancelled
      jobs[id]!.source = ""
      jobs[id]!.isFinished = true
      finished += 1
      return .cancelled
    }
    guard let job = jobs[id], !job.state.isFinal else { return jobs[id]?.state }
    jobs[id]!.state = .cancelled
    guard job.isAdmitted else { return .cancelled }
    for number in stride(from: job.cursor + 1, through: job.segments, by: 1) {
      segments[SegmentPlace(segment: String(number), source: job.source)] = nil
    }
    jobs[id]!.cursor = job.segments
    for chunk in parked.removeValue(forKey: id) ?? [] { close(chunk, as: \.skipped) }
    for number in stride(from: max(1, job.cursor - job.live + 1), through: job.cursor, by: 1) {
      let chunk = ModelChunk(
        job: id, segment: String(number), source: job.source, priority: job.priority,
        lines: job.lines)
      guard let index = delayed.firstIndex(where: { $0.chunk == chunk }) else { continue }
      delayed.remove(at: index)
      close(chunk, as: \.skipped)
    }
    finishIfEmpty(id)
    return .cancelled
  }

  mutating func pause(_ id: String) -> JobState? {
    guard let job = jobs[id], !job.state.isFinal else { return jobs[id]?.state }
    jobs[id]!.state = .paused
    return .paused
  }

  mutating func resume(_ id: String) -> JobState? {
    guard let job = jobs[id], job.state == .paused else { return jobs[id]?.state }
    let state: JobState = !job.isAdmitted ? .queued : job.startsLater ? .scheduled : .running
    jobs[id]!.state = state
    guard job.isAdmitted else { return state }
    for chunk in parked.removeValue(forKey: id) ?? [] {
      delayed.append((chunk, state == .running))
    }
    expand(id)
    return state
  }

  /// - Parameter isLater: whether the new start is far away; else it is now.
  mutating func reschedule(_ id: String, isLater: Bool) -> RescheduleAnswer? {
    guard let job = jobs[id] else { return nil }
    if job.state.isFinal { return .ended }
    guard job.isAdmitted else { return .waiting }
    guard !job.hasStarted else { return .started }
    jobs[id]!.startsLater = isLater
    for number in stride(from: max(1, job.cursor - job.live + 1), through: job.cursor, by: 1) {
      let chunk = ModelChunk(
        job: id, segment: String(number), source: job.source, priority: job.priority,
        lines: job.lines)
      guard let index = delayed.firstIndex(where: { $0.chunk == chunk }) else { continue }
      delayed[index].isDue = !isLater
    }
    return .moved
  }

  /// Every job is sound, so a reconciliation has nothing to repair.
  func reconcile(_ id: String) -> ReconcileAnswer {
    guard let job = jobs[id], job.isAdmitted, !job.isFinished else { return .absent }
    return .sound
  }
}
