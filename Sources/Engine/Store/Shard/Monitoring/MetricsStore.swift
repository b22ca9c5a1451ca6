internal import Glibc
package import Model
package import Redis

/// The figures that dashboards read: the counts of each minute and in all, latencies and the timeline.
package struct MetricsStore {
  let functions: StoreFunctions

  private static let minuteLifeSeconds = 2 * 86_400
  /// A day at an entry each 10 s.
  private static let timelineMax = 8_640

  /// Adds to the latency histogram of a minute.
  package func recordLatency(
    _ counts: [LatencyCount], minute: String
  ) async throws(RedisError) {
    guard !counts.isEmpty else { return }
    let key = functions.keys.latency(minute)
    for count in counts {
      functions.connection.send(
        RedisCommand(
          "HINCRBY", key, "\(count.network.rawValue)|\(count.boundMs)", String(count.count))
      ) { _ in }
    }
    _ = try await functions.connection.call(
      RedisCommand("EXPIRE", key, String(Self.minuteLifeSeconds)))
  }

  /// `<app>|<network>|<outcome>` → count of one minute, or the latency histogram's fields.
  package func minute(_ minute: String) async throws(RedisError) -> [String: Int] {
    try await counts(functions.keys.metrics(minute))
  }

  package func latency(_ minute: String) async throws(RedisError) -> [String: Int] {
    try await counts(functions.keys.latency(minute))
  }

  /// The outcomes since the totals began, some at a time: a fleet may have thousands of apps.
  /// - Parameter max: counts beyond which no more are read; a few more may be.
  package func totals(max: Int) async throws(RedisError) -> OutcomeTotals {
    var totals = OutcomeTotals()
    var cursor = "0"
    var pages = 0
    repeat {
      pages += 1
      let command = RedisCommand(
        "HSCAN", functions.keys.totals, cursor, "COUNT", String(StoreLimits.totalsPage))
      let page = try await functions.connection.call(command)
      guard let parts = page.array, parts.count == 2, let next = parts[0].string else {
        throw .unexpectedReply("HSCAN")
      }
      for (name, value) in parts[1].pairs { totals.add(name, value) }
      cursor = next
    } while cursor != "0" && totals.counts.count < max && pages < StoreLimits.totalsPagesMax
    totals.isWhole = cursor == "0"
    return totals
  }

  private func counts(_ key: String) async throws(RedisError) -> [String: Int] {
    let pairs = try await functions.connection.call(RedisCommand("HGETALL", key)).pairs
    return Dictionary(
      pairs.map { ($0, StoredNumber.count(Int($1) ?? 0)) }, uniquingKeysWith: { $1 })
  }

  /// Adds an entry to the timeline.
  package func appendTimeline(_ fields: [(String, String)]) async throws(RedisError) {
    guard !fields.isEmpty else { return }
    var command = RedisCommand(
      "XADD", functions.keys.timeline, "MAXLEN", "~", String(Self.timelineMax), "*")
    for (name, value) in fields {
      command.append(name)
      command.append(value)
    }
    _ = try await functions.connection.call(command)
  }
}

/// How many answers of a network came within a bound.
package struct LatencyCount: Sendable, Equatable {
  package let network: Network
  /// The upper bound of the histogram's bucket.
  package let boundMs: Int
  package let count: Int

  package init(network: Network, boundMs: Int, count: Int) {
    self.network = network
    self.boundMs = boundMs
    self.count = count
  }
}

/// A UTC minute as the metric keys spell it.
package enum Minute {
  /// `yyyyMMddHHmm` of an instant in epoch seconds.
  package static func name(epochSeconds: Int64) -> String {
    var seconds = time_t(epochSeconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let numbers = [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min]
    return String(parts.tm_year + 1900)
      + numbers.map { ($0 < 10 ? "0" : "") + String($0) }.joined()
  }
}
