internal import Redis
internal import Store

// The segments of a job with more text than its admission tells.
extension Admitter {
  /// Uploads in pieces, renewing leases in between.
  /// - Returns: whether all of it is there.
  func upload(_ segments: [[UInt8]], _ entry: JobEntry) async throws(RedisError) -> Bool {
    let renewedAfter = StoreLimits.uploadSegmentsMax
    var first = 0
    while first < segments.count {
      if first > 0, first.isMultiple(of: renewedAfter) {
        guard try await renew(entry), !large.isAbandoned else { return false }
      }
      let atOnce = direct.isFar ? renewedAfter : WorkerLimits.uploadedAtOnceMax
      let end = min(first + atOnce, first - first % renewedAfter + renewedAfter, segments.count)
      let isOurs = try await context.store.jobs.upload(
        Array(segments[first..<end]), first: first + 1, of: entry,
        consumer: context.settings.consumer)
      guard isOurs else { return false }
      first = end
    }
    return true
  }

  /// Renews the lease of an entry and of those that wait for it.
  private func renew(_ entry: JobEntry) async throws(RedisError) -> Bool {
    let others = large.waiting
    let standings = try await context.store.jobs.heartbeat(
      [entry] + others, consumer: context.settings.consumer)
    for (other, standing) in zip(others, standings.dropFirst()) where standing != .ok {
      large.drop(other)
      try await leave(other)
    }
    return standings.first == .ok
  }
}
