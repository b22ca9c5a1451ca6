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
    for (field, count) in answers where count > 0 {
      guard let (network, boundMs) = AnswerTimes.bucket(field) else { continue }
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
          object["answers"] = times[network].map(Self.json)
          return .object(object)
        }),
      // For whoever chooses one of all.
      "known": .array(Network.allCases.map { .string($0.rawValue) }),
    ])
  }

  private static func json(_ times: AnswerTimes) -> JSONValue {
    var object: JSONObject = ["count": .integer(times.total)]
    for percent in [50, 90, 99] {
      object["p\(percent)_ms"] = times.boundMs(percent: percent).map { .integer($0) }
    }
    return .object(object)
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
