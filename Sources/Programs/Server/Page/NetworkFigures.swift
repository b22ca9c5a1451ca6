internal import Model
internal import Store

/// The figures of the push networks, as the living workers tell them: connections, streams, GOAWAYs, and the answer times of this minute
/// and the last.
struct NetworkFigures {
  private var connections: [Network: WorkerFigures.Connections] = [:]
  private var times: [Network: AnswerTimes] = [:]

  /// - Parameter answers: `<network>|<upper bound in ms>` → count.
  init(_ workers: [WorkerStatus], answers: [String: Int]) {
    for worker in workers {
      for (network, more) in WorkerFigures(worker.fields)?.connections ?? [:] {
        connections[network, default: WorkerFigures.Connections()] += more
      }
    }
    for (name, count) in answers where count > 0 {
      let parts = name.split(separator: "|", omittingEmptySubsequences: false)
      guard parts.count == 2, let network = Network(rawValue: String(parts[0])),
        let boundMs = Int(parts[1]), boundMs > 0
      else { continue }
      times[network, default: AnswerTimes()].add(count, boundMs: boundMs)
    }
  }

  var json: JSONValue {
    let networks = Network.allCases.filter { connections[$0] != nil || times[$0] != nil }
    return .object([
      "networks": .array(
        networks.map { network in
          var object = Self.object(connections[network] ?? WorkerFigures.Connections())
          object["network"] = .string(network.rawValue)
          object["answers"] = times[network]?.json
          return .object(object)
        })
    ])
  }

  /// The connections of one worker.
  static func json(_ connections: [Network: WorkerFigures.Connections]) -> JSONValue {
    .array(
      Network.allCases.compactMap { network in
        guard let here = connections[network] else { return nil }
        var object = object(here)
        object["network"] = .string(network.rawValue)
        return .object(object)
      })
  }

  private static func object(_ connections: WorkerFigures.Connections) -> JSONObject {
    [
      "connections": .integer(connections.count),
      "streams_used": .integer(connections.streamsUsed),
      "streams_allowed": .integer(connections.streamsAllowed),
      "goaways": .integer(connections.goAways),
    ]
  }
}

/// How long answers took, in buckets.
struct AnswerTimes {
  /// Answers within each upper bound, in milliseconds, and above the one before.
  private var counts: [Int: Int] = [:]

  mutating func add(_ count: Int, boundMs: Int) {
    counts[boundMs] = StoredNumber.count((counts[boundMs] ?? 0) &+ StoredNumber.count(count))
  }

  private var total: Int { counts.values.reduce(0) { StoredNumber.count($0 + $1) } }

  /// The bound within which so many per cent of the answers came; 60,000 stands for all that took longer than 10 s.
  func boundMs(percent: Int) -> Int? {
    // At least one answer, and rounded up: the 99th of a hundred is within it.
    let wanted = max(1, (total * percent + 99) / 100)
    var sum = 0
    for (boundMs, count) in counts.sorted(by: { $0.key < $1.key }) {
      sum += count
      if sum >= wanted { return boundMs }
    }
    return nil
  }

  var json: JSONValue {
    var object: JSONObject = ["count": .integer(total)]
    for percent in [50, 90, 99] {
      object["p\(percent)_ms"] = boundMs(percent: percent).map { .integer($0) }
    }
    return .object(object)
  }
}
