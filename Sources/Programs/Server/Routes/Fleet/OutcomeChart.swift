internal import Model
internal import Redis
internal import Store

/// How many pushes ended how in each of some minutes, and how long the networks took to answer.
struct OutcomeChart: Sendable {
  /// One network and one outcome.
  private struct Series: Hashable, Sendable {
    let network: String
    let outcome: String
  }

  private let firstMinuteMs: Int64
  private let minutes: Int
  private var counts: [Series: [Int]] = [:]
  /// The answers of each minute.
  private var latencies: [Network: [AnswerTimes]] = [:]

  /// - Parameter app: nil for all apps together.
  static func read(
    minutes: Int, app: String?, in stores: [ShardStore]
  ) async throws(RedisError) -> OutcomeChart {
    var chart: OutcomeChart?
    for store in stores {
      let nowS = try await store.serverSeconds()
      let firstS = max(0, nowS - nowS % 60 - Int64(minutes - 1) * 60)
      let names = (0..<minutes).map { Minute.name(epochSeconds: firstS + Int64($0) * 60) }
      var sum = chart ?? OutcomeChart(firstMinuteMs: firstS * 1_000, minutes: minutes)
      for (minute, counts) in try await store.metrics.minutes(names).enumerated() {
        sum.add(counts, minute, app: app)
      }
      for (minute, counts) in try await store.metrics.latencies(names).enumerated() {
        sum.add(latencies: counts, minute)
      }
      chart = sum
    }
    return chart ?? OutcomeChart(firstMinuteMs: 0, minutes: minutes)
  }

  private init(firstMinuteMs: Int64, minutes: Int) {
    self.firstMinuteMs = firstMinuteMs
    self.minutes = minutes
  }

  private mutating func add(_ counts: [String: Int], _ minute: Int, app: String?) {
    for (field, count) in counts {
      let parts = field.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3, app.map({ $0 == parts[0] }) ?? true else { continue }
      let series = Series(network: parts[1], outcome: parts[2])
      // Any client may write there.
      guard self.counts[series] != nil || self.counts.count < ServerLimits.chartSeriesMax else {
        continue
      }
      let sum = self.counts[series]?[minute] ?? 0
      self.counts[series, default: Array(repeating: 0, count: minutes)][minute] =
        StoredNumber.count(sum + count)
    }
  }

  private mutating func add(latencies counts: [String: Int], _ minute: Int) {
    for (field, count) in counts where count > 0 {
      guard let (network, boundMs) = AnswerTimes.bucket(field) else { continue }
      latencies[network, default: Array(repeating: AnswerTimes(), count: minutes)][minute]
        .add(count, boundMs: boundMs)
    }
  }

  var json: JSONValue {
    let outcomes = counts.sorted {
      ($0.key.network, $0.key.outcome) < ($1.key.network, $1.key.outcome)
    }.map { series, counts -> JSONValue in
      [
        "network": .string(series.network), "outcome": .string(series.outcome),
        "counts": .array(counts.map { .integer($0) }),
      ]
    }
    let times = latencies.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      network, minutes -> JSONValue in
      var object: JSONObject = [
        "network": .string(network.rawValue),
        "answers": .array(minutes.map { .integer($0.total) }),
      ]
      for percent in [50, 95, 99] {
        object["p\(percent)_ms"] = .array(
          minutes.map { $0.boundMs(percent: percent).map { .integer($0) } ?? .null })
      }
      return .object(object)
    }
    return [
      "from": .integer(firstMinuteMs), "step_ms": .integer(60_000), "minutes": .integer(minutes),
      "outcomes": .array(outcomes), "latency": .array(times),
    ]
  }
}

/// The backlog of some minutes, as workers told it in each shard.
enum TimelineChart {
  /// A worker's word about one shard.
  struct Point: Sendable {
    let shard: ShardID
    let entry: TimelineEntry
  }

  static func read(
    minutes: Int, in stores: [ShardStore]
  ) async throws(RedisError) -> [Point] {
    var points: [Point] = []
    for store in stores {
      let nowMs = try await store.serverSeconds() * 1_000
      points += try await store.metrics.timeline(
        sinceMs: nowMs - Int64(minutes) * 60_000, max: ServerLimits.timelineReadMax
      ).map { Point(shard: store.id, entry: $0) }
    }
    points.sort { $0.entry.atMs < $1.entry.atMs }
    return thinned(points)
  }

  /// The last entry, and others evenly before it.
  static func thinned<Entry>(_ entries: [Entry]) -> [Entry] {
    let most = ServerLimits.timelinePointsMax
    guard entries.count > most else { return entries }
    return (1...most).map { entries[entries.count * $0 / most - 1] }
  }

  static func json(_ point: Point) -> JSONValue {
    var object: JSONObject = ["at": .integer(point.entry.atMs)]
    for (name, value) in point.entry.figures.sorted(by: { $0.key < $1.key }) where name != "at" {
      object[name] = .integer(value)
    }
    if !point.shard.isOnly { object["shard"] = .string(point.shard.name) }
    return .object(object)
  }
}
