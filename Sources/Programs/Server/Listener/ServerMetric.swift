package import Operations

/// The metrics of one server itself, beside those of the fleet: docs/reference/metrics.md explains each.
package enum ServerMetric: String, CaseIterable, MetricName {
  case requests = "pushpool_server_requests_total"
  case requestDuration = "pushpool_server_request_duration_seconds"
  case connections = "pushpool_server_connections"
  case eventStreams = "pushpool_server_event_streams"
  case bodyBytes = "pushpool_server_body_bytes"
  case redisConnected = "pushpool_server_redis_connected"
  case started = "pushpool_server_start_time_seconds"

  package var kind: MetricKind {
    switch self {
    case .requests: .counter
    case .requestDuration: .histogram
    case .connections, .eventStreams, .bodyBytes, .redisConnected, .started: .gauge
    }
  }

  package var help: String {
    switch self {
    case .requests: "Requests that this server answered, by group of routes and class of status."
    case .requestDuration: "How long this server took to answer, without streams."
    case .connections: "Connections of clients that this server has open."
    case .eventStreams: "Streams of events that this server is writing."
    case .bodyBytes: "Bytes of bodies that this server has in memory."
    case .redisConnected: "Whether this server could read the fleet's metrics from Redis: 1 or 0."
    case .started: "When this server started."
    }
  }
}
