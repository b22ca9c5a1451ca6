package import Redis

/// How many jobs had ended at a moment, by the counter of `pushpool:finished`, which nothing but a deletion sets back.
package struct EndedJobs: Sendable, Equatable {
  package let count: Int
  /// Epoch milliseconds, by Redis's clock.
  package let atMs: Int64

  package init(count: Int, atMs: Int64) {
    self.count = count
    self.atMs = atMs
  }

  /// Returns how many have ended in a second since then; nil when it is too short a time ago, or the counter began anew.
  package func perSecond(until now: EndedJobs) -> Double? {
    let (spanMs, isTooLarge) = now.atMs.subtractingReportingOverflow(atMs)
    guard !isTooLarge, spanMs >= StoreLimits.endedSpanMsMin, now.count >= count, count >= 0 else {
      return nil
    }
    return Double(now.count - count) * 1_000 / Double(spanMs)
  }
}

extension MetricsStore {
  /// Counts the jobs that have ended since Redis has the prefix; 0 where none has.
  package func endedCount() async throws(RedisError) -> Int {
    let reply: RESPValue
    do throws(RedisError) {
      reply = try await functions.connection.call(
        RedisCommand("XINFO", "STREAM", functions.keys.finished))
    } catch {
      // So it says of a key that is not there.
      if case .server("ERR", _) = error { return 0 }
      throw error
    }
    let fields = reply.array ?? []
    let name = fields.firstIndex { $0.string == "entries-added" }
    guard let name, name + 1 < fields.count else { return 0 }
    return max(0, fields[name + 1].integer ?? 0)
  }

  /// Returns how many jobs had ended a day ago, or since then as long ago as the timeline tells; nil when it does not.
  package func endedADayAgo(nowMs: Int64) async throws(RedisError) -> EndedJobs? {
    let reply = try await functions.connection.call(
      RedisCommand(
        "XRANGE", functions.keys.timeline, String(max(0, nowMs - StoreLimits.endedSpanMsMax)), "+",
        "COUNT", "1"))
    guard let entry = reply.array?.first?.array, entry.count == 2,
      let atMs = entry[0].string.flatMap({ Int64($0.prefix { $0 != "-" }) }),
      let count = entry[1].pairs.first(where: { $0.0 == "ended" }).flatMap({ Int($0.1) })
    else { return nil }
    return EndedJobs(count: count, atMs: atMs)
  }
}
