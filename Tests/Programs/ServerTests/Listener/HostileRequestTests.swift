import LocalServices
import Testing

/// What no client should send gets one clear answer or none, and nobody else notices.
@Suite struct HostileRequestTests {
  /// A request, and what may come of it.
  private struct Case: CustomStringConvertible {
    let description: String
    let bytes: [UInt8]
    /// The statuses of which the first answer has one, if there is an answer.
    let statuses: Set<Int>
    /// How many answers there may be.
    let answersMax: Int

    init(
      _ description: String, _ text: String, _ statuses: Set<Int> = [400], answersMax: Int = 1
    ) {
      self.init(description, Array(text.utf8), statuses, answersMax: answersMax)
    }

    init(
      _ description: String, _ bytes: [UInt8], _ statuses: Set<Int> = [400], answersMax: Int = 1
    ) {
      self.description = description
      self.bytes = bytes
      self.statuses = statuses
      self.answersMax = answersMax
    }
  }

  /// What an attacker would have the server take for a request of its own.
  private static let smuggled = "GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n"

  private static func post(_ fields: String, _ body: String) -> String {
    "POST /v1/session HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)"
  }

  private static let framing: [Case] = [
    Case(
      "a length beside chunks",
      post("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n" + smuggled)),
    Case(
      "chunks beside a length",
      post("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n" + smuggled)),
    Case("two lengths", post("Content-Length: 5\r\nContent-Length: 5", "hello" + smuggled)),
    Case("two lengths that differ", post("Content-Length: 0\r\nContent-Length: 5", smuggled)),
    Case("a list of lengths", post("Content-Length: 5, 5", "hello" + smuggled)),
    Case("a length with a sign", post("Content-Length: +5", "hello" + smuggled)),
    Case("a negative length", post("Content-Length: -1", smuggled)),
    Case("a length in hexadecimal", post("Content-Length: 0x5", "hello" + smuggled)),
    Case("an empty length", post("Content-Length:", smuggled)),
    Case("a length that overflows", post("Content-Length: 18446744073709551621", smuggled)),
    Case("a length beyond any body", post("Content-Length: 999999999999999999", smuggled), [413]),
    Case(
      "another coding", post("Transfer-Encoding: xchunked", "0\r\n\r\n" + smuggled), [400, 501]),
    Case("no coding", post("Transfer-Encoding: identity", smuggled), [400, 501]),
    Case(
      "chunked and something else", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
      [400, 501]),
    Case(
      "something else and chunked",
      post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n" + smuggled),
      [400, 501]),
    Case(
      "two codings",
      post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n" + smuggled),
      [400, 501]),
    Case(
      "a coding behind a tab within", post("Transfer-Encoding: \u{0B}chunked", "0\r\n\r\n"),
      [400, 501]),
    Case("a space before the colon", post("Transfer-Encoding : chunked", "0\r\n\r\n" + smuggled)),
    Case(
      "a field that goes on in the next line",
      post("X: y\r\n Transfer-Encoding: chunked", "0\r\n\r\n" + smuggled)),
    Case(
      "chunks for HTTP/1.0",
      "POST /v1/session HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled),
  ]

  /// The route answers 4xx by itself, before or behind the body.
  private static let chunks: [Case] = [
    ("a negative chunk", "-1\r\nx\r\n0\r\n\r\n"), ("a huge chunk", "FFFFFFFFFFFFFFFF0\r\nx"),
    ("the largest chunk", "FFFFFFFFFFFFFFFF\r\nx"), ("a chunk with a prefix", "0x5\r\nhello\r\n"),
    ("a chunk that is too long", "3\r\nhello\r\n0\r\n\r\n"),
    ("a chunk without a size", "\r\nx\r\n"),
    ("a chunk behind a space", " 5\r\nhello\r\n0\r\n\r\n"),
    ("a bare line feed behind a size", "5\nhello\r\n0\r\n\r\n"),
    ("a bare line feed in an extension", "5;a\nhello\r\n0\r\n\r\n"),
  ].map {
    Case(
      $0.0, post("Transfer-Encoding: chunked", $0.1 + smuggled), Set(400...499), answersMax: 1)
  }

  private static let heads: [Case] = [
    Case("no host", "GET /healthz HTTP/1.1\r\n\r\n"),
    Case("two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    Case("a host with a user", "GET /healthz HTTP/1.1\r\nHost: a@b\r\n\r\n"),
    Case("an empty host", "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"),
    Case("a space before the host's colon", "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n"),
    Case(
      "two keys",
      "GET /v1/fleet HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"
    ),
    Case("an absolute target", "GET http://a/healthz HTTP/1.1\r\nHost: b\r\n\r\n"),
    Case("a target without a slash", "GET healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a star", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a target with a space", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a target beyond ASCII", "GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a target with a byte that is no text", Array("GET /".utf8) + [0xFF, 0xFE, 0x20]),
    Case("a fragment", "GET /healthz#x HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("no method", " /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
    Case("a method that nobody knows", "FROB /healthz HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405]),
    Case("a method in small letters", "get /healthz HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405]),
    Case("a later version", "GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", [400, 505]),
    Case("a version between", "GET /healthz HTTP/1.9\r\nHost: a\r\n\r\n", [400, 505]),
    Case("no version", "GET /healthz\r\n\r\n", [400, 505]),
    Case(
      "a method of another protocol", "DESCRIBE /healthz RTSP/1.0\r\nHost: a\r\n\r\n", [400, 405]),
    Case(
      "an upgrade",
      "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n"
        + smuggled, [200]),
    Case("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, 405, 505]),
    Case("a field without a colon", "GET /healthz HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n"),
    Case("a field without a name", "GET /healthz HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"),
    Case("NUL in a field", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n"),
    Case("a bare carriage return", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\rY: b\r\n\r\n"),
    Case(
      "an expectation that is none", "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n",
      [417]),
    Case("TLS", [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03]),
    Case("noise", (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ 13) }),
    Case("Redis", "*1\r\n$4\r\nPING\r\n"),
    Case(
      "a field that is too long",
      "GET /healthz HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
      [431]),
    Case(
      "too many bytes of fields",
      "GET /healthz HTTP/1.1\r\nHost: a\r\n"
        + (0..<50).map { "X\($0): \(String(repeating: "y", count: 400))\r\n" }.joined() + "\r\n",
      [431]),
    Case(
      "too many fields",
      "GET /healthz HTTP/1.1\r\nHost: a\r\n" + (0..<120).map { "X\($0): y\r\n" }.joined() + "\r\n",
      [431]),
    Case(
      "a target that is too long",
      "GET /\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", [414, 431]),
    // All readings are right (RFC 9112, 2.2); what matters is that there is one. The parser takes the first of them for
    // a part of the version.
    Case(
      "bare line feeds", "GET /healthz HTTP/1.1\nHost: a\nConnection: close\n\n",
      [200, 400, 505]),
  ]

  @Test("each gets one clear answer or the end, and a healthy request beside it is answered")
  func corpus() async throws {
    try await RunningServer.with { server, _ in
      let neighbour = try server.connect()
      for hostile in Self.framing + Self.chunks + Self.heads {
        let connection = try server.connect()
        connection.send(hostile.bytes)
        // What is no request yet would be waited for.
        connection.endInput()
        let received = await connection.rest()
        #expect(received.isClosed, "\(hostile)")
        #expect(received.statuses.count <= hostile.answersMax, "\(hostile): \(received.text)")
        if let status = received.statuses.first {
          #expect(hostile.statuses.contains(status), "\(hostile): \(received.text)")
          #expect(received.text.contains("request-id: "), "\(hostile): \(received.text)")
          if status >= 400 {
            #expect(received.text.contains("application/problem+json"), "\(hostile)")
          }
        }
        neighbour.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await neighbour.answer().status == 200, "beside \(hostile)")
      }
    }
  }

  @Test("what is refused is closed also for a client that goes on sending")
  func goesOn() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      connection.send(Self.post("Content-Length: 5\r\nTransfer-Encoding: chunked", ""))
      let answer = try await connection.answer()
      #expect(answer.status == 400 && answer.headers["connection"] == "close")
      // It reads on for a while, and answers nothing.
      for _ in 0..<10 { connection.send(Self.smuggled) }
      let rest = await connection.rest()
      #expect(rest.isClosed && rest.bytes.isEmpty)
    }
  }

  @Test("chunks with extensions and trailers are read as chunks")
  func extensions() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      connection.send(
        Self.post("Transfer-Encoding: chunked", "2;a=b;c=\"d\"\r\n{}\r\n0\r\nTrailer: x\r\n\r\n")
          + Self.smuggled)
      let first = try await connection.answer()
      #expect((400...499).contains(first.status), "an empty object is no key: \(first.body)")
      // A request of its own, since the body had its right end.
      let rest = await connection.rest(withinMs: 2_000)
      #expect(rest.statuses == [200] || first.body.contains("HTTP/1.1 200"), "\(rest.text)")
    }
  }

  @Test("many bad requests leave no connection behind")
  func many() async throws {
    try await RunningServer.with(hasMetrics: true) { server, _ in
      for _ in 0..<200 {
        let connection = try server.connect()
        connection.send("GET / HTTP/9\r\n\r\n")
        connection.endInput()
        _ = await connection.rest()
      }
      let deadline = ContinuousClock.now + .milliseconds(RunningServer.timeoutMs)
      var open = ""
      // This one, and the one that asks.
      while !["pushpool_server_connections 1", "pushpool_server_connections 2"].contains(open) {
        try #require(ContinuousClock.now < deadline, "\(open)")
        let text = try await server.get("/metrics", port: server.metricsPort).body
        open =
          text.components(of: "\n").first { $0.hasPrefix("pushpool_server_connections ") } ?? ""
      }
    }
  }
}
