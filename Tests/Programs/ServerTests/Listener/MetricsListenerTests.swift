import LocalServices
import Operations
import Testing

@testable import Server

/// The listener for monitors.
@Suite struct MetricsListenerTests {
  @Test(
    "it tells the fleet's metrics and its own, in the format that is asked for, and nothing else")
  func metrics() async throws {
    try await RunningServer.with(hasMetrics: true) { server, _ in
      #expect(try await server.get("/nothing").status == 404)
      let plain = try await server.get("/metrics", port: server.metricsPort)
      #expect(plain.status == 200)
      #expect(plain.headers["content-type"] == MetricsFormat.prometheus.contentType)
      #expect(plain.body.contains("\npushpool_workers 0\n"))
      #expect(plain.body.contains("\npushpool_server_redis_connected 1\n"))
      #expect(
        plain.body.contains("pushpool_server_requests_total{group=\"health\",status=\"2xx\"} "))
      #expect(plain.body.contains("pushpool_server_requests_total{group=\"none\",status=\"4xx\"} "))
      #expect(!plain.body.contains("# EOF"))
      let open = try await server.ask(
        "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=1.0.0,*/*;q=0.1",
        port: server.metricsPort)
      #expect(open.headers["content-type"] == MetricsFormat.openMetrics.contentType)
      #expect(open.body.hasSuffix("\n# EOF\n"))
      #expect(open.body.components(of: "# EOF").count == 2)
      for path in ["/", "/healthz", "/v1/fleet"] {
        #expect(try await server.get(path, port: server.metricsPort).status == 404, "\(path)")
      }
      let post = try await server.ask("POST /metrics HTTP/1.1", port: server.metricsPort)
      #expect(post.status == 405)
      // The API has none.
      #expect(try await server.get("/metrics").status == 404)
    }
  }

  @Test(
    "a monitor gets OpenMetrics when it likes it as well",
    arguments: [
      ("", MetricsFormat.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
      ("application/openmetrics-text", .openMetrics),
      ("application/openmetrics-text; version=1.0.0; q=0.5, text/plain; q=0.3", .openMetrics),
      ("application/openmetrics-text;q=0.2,text/plain;q=0.9", .prometheus),
      ("application/openmetrics-text;q=0", .prometheus),
      ("APPLICATION/OpenMetrics-Text;Q=1.0", .openMetrics),
      ("application/openmetrics-text;q=nan", .prometheus), (";;,,q=1", .prometheus),
    ])
  func accept(field: String, format: MetricsFormat) {
    #expect(MetricsAccept.format(field) == format)
  }
}
