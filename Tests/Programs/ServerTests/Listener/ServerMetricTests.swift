import Operations
import TestSupport
import Testing

@testable import Server

@Suite struct ServerMetricTests {
  @Test("the document explains each metric of a server, and no other")
  func document() {
    let words = Document.text("docs/reference/metrics.md").split {
      !($0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber))
    }
    let named = Set(words.map(String.init).filter { $0.hasPrefix("pushpool_server_") })
    #expect(named == Set(ServerMetric.allCases.map(\.rawValue)))
  }

  @Test("what a server has done and has in hand is told")
  func families() {
    let figures = ServerFigures()
    figures.note(group: "jobs", status: 202, tookNs: 3_000_000)
    figures.note(group: "jobs", status: 200, tookNs: 1)
    figures.note(group: "jobs", status: 503)
    figures.connections(changedBy: 3)
    figures.connections(changedBy: -1)
    figures.eventStreams(changedBy: 1)
    let text = MetricsFormat.openMetrics.text(
      [], and: figures.families(bodyBytes: 7, redisIsConnected: true))
    for line in [
      "# TYPE pushpool_server_requests counter",
      #"pushpool_server_requests_total{group="jobs",status="2xx"} 2"#,
      #"pushpool_server_requests_total{group="jobs",status="5xx"} 1"#,
      #"pushpool_server_request_duration_seconds_bucket{group="jobs",le="0.001"} 1"#,
      #"pushpool_server_request_duration_seconds_count{group="jobs"} 2"#,
      "pushpool_server_connections 2", "pushpool_server_event_streams 1",
      "pushpool_server_body_bytes 7", "pushpool_server_redis_connected 1", "# EOF",
    ] {
      #expect(text.contains("\(line)\n"), "\(line) in \(text)")
    }
    #expect(
      figures.families(bodyBytes: 0, redisIsConnected: false).map(\.metric)
        == ServerMetric.allCases)
  }
}
