package import Model
internal import Reactor
package import Redis
package import Store

/// A job, what was recorded of it, and what its subject has installed now: all that conclusions are drawn from.
package struct TracedJob: Sendable {
  package let record: JobRecord
  /// Nil when it is not known. Of a job that has ended it is kept only if it says something of who received it.
  package let content: JobContent?
  package let reading: TraceReading
  /// The subject's installations as they are now.
  let installations: [Installation]
  /// The switches that are off now and concern the subject, for a job that has not ended.
  package let switchedOff: [KillSwitch]
  /// Whether events of this job may be gone because of their age.
  package let isOld: Bool

  /// Reads a job with its trace; needs no functions. Of a job that goes on, or ended a moment ago, it waits for
  /// what lanes have not sent yet.
  /// - Parameter nowMs: epoch milliseconds, to tell how old the trace is.
  /// - Returns: nil for a job that no store has a record of.
  package static func find(
    _ subject: TraceSubject, app: String, job: String, nowMs: Int64, in stores: [ShardStore]
  ) async throws(RedisError) -> TracedJob? {
    // The record first: all that it counts is in the trace after the wait. Lanes send events within 200 ms, and what Redis
    // decides as it settles (a skip, a token removed) is recorded behind the settlement.
    let found = try await stores.firstAnswer { store throws(RedisError) in
      try await store.record(app: app, job: job)
    }
    guard let record = found else { return nil }
    let leftMs =
      record.finishedAtMs.map { OperationsLimits.traceLagMs - max(0, nowMs - $0) }
      ?? (record.isAdmitted ? OperationsLimits.traceRunningLagMs : 0)
    if leftMs > 0 { await stores.first?.connection.loop.sleep(ms: UInt64(leftMs)) }
    let bytes = try await stores.firstAnswer { store throws(RedisError) in
      try await store.jobs.content(app: app, id: job)
    }
    let reading = try await TraceReading.read(subject, app: app, job: job, from: stores)
    let installations = try await installations(of: subject, app: app, in: stores)
    let age = record.finishedAtMs.map { nowMs - $0 } ?? 0
    return TracedJob(
      record: record, content: content(bytes, of: record), reading: reading,
      installations: installations,
      switchedOff: record.state.isFinal
        ? []
        : try await switchedOff(
          subject.switches(app: app, installations)
            + (record.bucket.map { [KillSwitch.bucket(app: app, $0)] } ?? [])
            + (record.topic.map { [KillSwitch.topic(app: app, $0)] } ?? []), in: stores),
      isOld: age > OperationsLimits.traceLifeMs)
  }

  private static func content(_ bytes: [UInt8]?, of record: JobRecord) -> JobContent? {
    guard let bytes else { return record.state.isFinal && record.isAdmitted ? JobContent() : nil }
    var content = try? JobContent(bytes: bytes)
    if let expiresAtMs = record.expiresAtMs { content?.expiry = .at(ms: expiresAtMs) }
    return content
  }

  private static func installations(
    of subject: TraceSubject, app: String, in stores: [ShardStore]
  ) async throws(RedisError) -> [Installation] {
    let lookup = InstallationLookup(stores: stores)
    switch subject {
    case .everybody: return []
    case .user(let user):
      return try await lookup.devices(app: app, user: user).map(\.installation)
    case .token(let tokens):
      var installations: [Installation] = []
      for token in tokens {
        let found = try await lookup.installation(app: app, token: token)
        if let found { installations.append(found.installation) }
      }
      return installations
    }
  }

  private static func switchedOff(
    _ switches: [KillSwitch], in stores: [ShardStore]
  ) async throws(RedisError) -> [KillSwitch] {
    var off: Set<KillSwitch> = []
    for store in stores { off.formUnion(try await store.switches.thoseOff(among: switches)) }
    return switches.filter { off.contains($0) }
  }

  /// Pushes that the record counts as ended without an accept and that no event explains.
  package var unexplained: Int {
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
}
