package import Operations
internal import Reactor
internal import Synchronization
internal import Typesetting

/// The figures of one server: of what it has done, and of what it has in hand.
package final class ServerFigures: Sendable {
  /// The group of requests that reach no route.
  static let refusedGroup = "none"
  /// The upper bounds of the times of answers, in microseconds.
  private static let boundsUs: [UInt64] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
  ]

  private struct Series: Hashable {
    let group: String
    /// `2xx` and so on.
    let status: String
  }

  private struct State {
    var requests: [Series: Int] = [:]
    var times: [String: DurationHistogram] = [:]
    var connections = 0
    var eventStreams = 0
  }

  private let state = Mutex(State())
  private let startedMs = InstantText.nowMs()

  package init() {}

  /// An answer was begun.
  /// - Parameters:
  ///   - group: of the route's document.
  ///   - tookNs: the time since the request's head was there; nil for one that does not count, as a stream's.
  package func note(group: String, status: Int, tookNs: UInt64? = nil) {
    let series = Series(group: group, status: "\(status / 100)xx")
    state.withLock { state in
      state.requests[series, default: 0] += 1
      if let tookNs {
        state.times[group, default: DurationHistogram(boundsUs: Self.boundsUs)].add(tookNs)
      }
    }
  }

  var openConnections: Int { state.withLock { $0.connections } }

  package func connections(changedBy count: Int) { state.withLock { $0.connections += count } }

  package func eventStreams(changedBy count: Int) { state.withLock { $0.eventStreams += count } }

  /// All metrics, in the order of `ServerMetric`.
  package func families(
    bodyBytes: Int, redisIsConnected: Bool
  ) -> [NamedMetricFamily<ServerMetric>] {
    let state = state.withLock { $0 }
    return ServerMetric.allCases.map { metric in
      var family = NamedMetricFamily(metric)
      switch metric {
      case .requests:
        for (series, count) in state.requests.sorted(by: {
          ($0.key.group, $0.key.status) < ($1.key.group, $1.key.status)
        }) {
          family.add(count, ["group": series.group, "status": series.status])
        }
      case .requestDuration:
        for (group, times) in state.times.sorted(by: { $0.key < $1.key }) {
          family.add(times, ["group": group])
        }
      case .connections: family.add(state.connections)
      case .eventStreams: family.add(state.eventStreams)
      case .bodyBytes: family.add(bodyBytes)
      case .redisConnected: family.add(redisIsConnected ? 1 : 0)
      case .started: family.add(ms: startedMs)
      }
      return family
    }
  }
}
