internal import Model
internal import Redis
internal import Store

/// A job, what was recorded of it, and what its subject has installed now: all that conclusions are drawn from.
struct TracedJob: Sendable {
  let record: JobRecord
  /// Nil when it is not kept any more.
  let content: JobContent?
  let reading: TraceReading
  /// The subject's installations as they are now.
  let installations: [Installation]
  /// What is switched off now and concerns the subject, for a job that has not ended.
  let switchedOff: [KillSwitch]

  /// Nil for an unknown job.
  static func find(
    _ subject: TraceSubject, app: String, job: String, in store: Store
  ) async throws(RedisError) -> TracedJob? {
    // The record first: what it counts was recorded before.
    guard let record = try await store.jobs.record(app: app, id: job) else { return nil }
    let bytes = try await store.jobs.content(app: app, id: job)
    let reading = try await TraceReading.read(subject, app: app, job: job, from: store)
    var installations: [Installation] = []
    switch subject {
    case .everybody: break
    case .user(let user):
      installations = try await store.installations.devices(app: app, user: user)
        .map(\.installation)
    case .token(let tokens):
      for token in tokens {
        let found = try await store.installations.installation(app: app, token: token)
        if let found { installations.append(found.installation) }
      }
    }
    return TracedJob(
      record: record, content: bytes.flatMap { try? JobContent(bytes: $0) }, reading: reading,
      installations: installations,
      switchedOff: record.state.isFinal
        ? []
        : try await store.switches.thoseOff(among: subject.switches(app: app, installations)))
  }

  /// Pushes that the record counts as ended without an accept and that no event explains.
  var unexplained: Int {
    let counts = record.counts
    let ends: [(Int, Int)] = [
      (
        counts.rejected + counts.uninstalled,
        reading.ended(.rejected) + reading.ended(.uninstall)
      ),
      (counts.expired, reading.ended(.expired)), (counts.skipped, reading.ended(.skipped)),
      (counts.failed, reading.ended(.failed)),
    ]
    return ends.reduce(0) { $0 + max(0, $1.0 - $1.1) }
  }

  /// Whether events of this job may be gone because of their age.
  var isOld: Bool {
    guard let finishedAtMs = record.finishedAtMs else { return false }
    return InstantText.nowMs() - finishedAtMs > CommandLineLimits.traceLifeMs
  }
}
