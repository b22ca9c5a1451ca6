import Model

@testable import Store

// Jobs that are sent from their entries.
extension StoreModel {
  mutating func beginDirect(
    _ entry: JobEntry, _ id: String, _ digest: String, _ consumer: String
  ) -> AdmissionAnswer {
    let answer = reserve(entry, id, digest, consumer)
    return answer == .new && jobs[id]?.state == .paused ? .cancelled : answer
  }

  /// Whether the entry of a job that has its name is gone, and nothing else tells of it.
  private func isOrphan(_ entry: JobEntry, _ id: String, _ digest: String) -> Bool {
    guard let job = jobs[id], job.source == entry.source, job.digest == digest, !job.isAdmitted
    else { return false }
    return !entries[entry.priority]!.has(entry.entry)
      && !letters.contains { $0.jobEntry == entry.entry && $0.priority == entry.priority }
  }

  mutating func endDirect(
    _ entry: JobEntry, _ id: String, _ recipients: [String], _ report: ModelReport
  ) -> DirectAnswer {
    guard var job = jobs[id], job.source == entry.source, job.state != .refused else {
      return .stale
    }
    guard !job.isAdmitted else { return job.state.isFinal ? .ended : .stale }
    job.isAdmitted = true
    job.state = job.state == .cancelled ? .cancelled : .done
    job.open = Set(recipients)
    job.total = recipients.count
    jobs[id] = job
    let chunk = ModelChunk(
      job: id, segment: "1", source: job.source, priority: entry.priority, lines: .users)
    for effect in report.effects { _ = apply(effect, of: chunk) }
    if jobs[id]!.open.isEmpty == false { complaints.append("\(id) ended with open recipients") }
    jobs[id]!.isFinished = true
    finished += 1
    entries[entry.priority]!.drop(entry.entry)
    return .ended
  }

  /// - Parameter chunk: the entry of its chunk.
  mutating func admitBegun(
    _ entry: JobEntry, _ admission: Admission, _ recipients: [String], _ consumer: String,
    chunk: String
  ) -> Bool {
    let lease = entries[entry.priority]!.lease(entry.entry, of: consumer)
    guard lease != nil || isOrphan(entry, admission.id, admission.digest) else {
      // Who says it again, since the reply was lost, has the chunk already.
      return jobs[admission.id].map { $0.isAdmitted && $0.source == entry.source } == true
        && chunks[entry.priority]!.leases.contains {
          $0.owner == consumer && $0.item.source == entry.source && $0.item.segment == "1"
        }
    }
    let answer = standing(admission.id, admission.digest, entry.source)
    if let lease, answer == .duplicate { entries[entry.priority]!.drop(lease.number) }
    guard answer == .new else { return false }
    var job = ModelJob(
      state: .running, source: entry.source, digest: admission.digest, priority: entry.priority)
    if let known = jobs[admission.id], known.source == entry.source,
      known.state == .paused || known.state == .cancelled
    {
      job.state = known.state
    }
    job.isAdmitted = true
    job.hasStarted = true
    (job.segments, job.cursor, job.live, job.chunks) = (1, 1, 1, 1)
    job.window = admission.audience.window
    job.open = Set(recipients)
    job.total = recipients.count
    jobs[admission.id] = job
    let own = ModelChunk(
      job: admission.id, segment: "1", source: job.source, priority: entry.priority, lines: .users)
    segments[own.place] = ModelSegment(recipients: recipients)
    chunks[entry.priority]!.add(own, for: consumer, entry: chunk)
    if let lease { entries[entry.priority]!.drop(lease.number) }
    return true
  }
}
