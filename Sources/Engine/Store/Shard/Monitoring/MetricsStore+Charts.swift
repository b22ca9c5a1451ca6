internal import Model
package import Redis

// The counts and the timeline that charts are drawn of.
extension MetricsStore {
  /// The counts of some minutes, in their order (`minute`), some minutes in one trip.
  package func minutes(_ minutes: [String]) async throws(RedisError) -> [[String: Int]] {
    try await counts(minutes.map { functions.keys.metrics($0) })
  }

  /// The latency histograms of some minutes, likewise (`latency`).
  package func latencies(_ minutes: [String]) async throws(RedisError) -> [[String: Int]] {
    try await counts(minutes.map { functions.keys.latency($0) })
  }

  private func counts(_ keys: [String]) async throws(RedisError) -> [[String: Int]] {
    var counts: [[String: Int]] = []
    var rest = keys[...]
    while !rest.isEmpty {
      let part = rest.prefix(StoreLimits.chartedAtOnce)
      rest = rest.dropFirst(part.count)
      let replies = await functions.connection.callAll(
        part.map { RedisCommand("HGETALL", $0) }
      ) { RESPValue($0) }
      for reply in replies {
        let pairs = try reply.get().pairs
        counts.append(
          Dictionary(
            pairs.map { ($0, StoredNumber.count(Int($1) ?? 0)) }, uniquingKeysWith: { $1 }))
      }
    }
    return counts
  }

  /// The timeline's entries since an instant, the oldest first; of too many the newest.
  /// - Parameter sinceMs: epoch milliseconds, by Redis's clock.
  package func timeline(sinceMs: Int64, max: Int) async throws(RedisError) -> [TimelineEntry] {
    let reply = try await functions.connection.call(
      RedisCommand(
        "XREVRANGE", functions.keys.timeline, "+", String(Swift.max(0, sinceMs)), "COUNT",
        String(max)))
    let entries = (reply.array ?? []).compactMap { item -> TimelineEntry? in
      guard let parts = item.array, parts.count == 2,
        let atMs = parts[0].string.flatMap({ Int64($0.prefix { $0 != "-" }) })
      else { return nil }
      let figures = parts[1].pairs.compactMap { name, value in
        Int(value).map { (name, StoredNumber.count($0)) }
      }
      return TimelineEntry(
        atMs: StoredNumber.instantMs(atMs),
        figures: Dictionary(figures, uniquingKeysWith: { $1 }))
    }
    return entries.reversed()
  }
}

/// The figures that a worker has added to the timeline.
package struct TimelineEntry: Sendable, Equatable {
  /// Epoch milliseconds.
  package let atMs: Int64
  /// By the names of docs/reference/redis.md.
  package let figures: [String: Int]

  package init(atMs: Int64, figures: [String: Int]) {
    self.atMs = atMs
    self.figures = figures
  }
}
