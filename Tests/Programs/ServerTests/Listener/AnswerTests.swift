import LocalServices
import Model
import Testing

/// What every answer of a running server has.
@Suite struct AnswerTests {
  @Test("the probes and the document answer, with the fields that each answer has")
  func probes() async throws {
    try await RunningServer.with { server, _ in
      var names: Set<String> = []
      for path in ["/healthz", "/readyz", "/openapi.json"] {
        let answer = try await server.get(path)
        #expect(answer.status == 200, "\(path): \(answer.body)")
        #expect(answer.headers["content-type"] == "application/json")
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        #expect(answer.headers["date"]?.hasSuffix(" GMT") == true)
        #expect(answer.headers["server"] == nil)
        names.insert(try #require(answer.headers["request-id"]))
        #expect(try JSONParser().parse(answer.body).objectValue != nil)
      }
      #expect(names.count == 3, "each request has a name of its own")
    }
  }

  @Test("HEAD is answered as GET is, without the body")
  func head() async throws {
    try await RunningServer.with { server, _ in
      let got = try await server.get("/healthz")
      let connection = try server.connect()
      connection.send("HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      let answer = try await connection.answer(isToHead: true)
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(answer.headers["content-length"] == String(got.body.utf8.count))
      // The connection goes on behind it.
      connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
      let next = try await connection.answer()
      #expect(next.status == 200 && next.body == got.body)
    }
  }

  @Test("what is not there is told as a problem")
  func problems() async throws {
    try await RunningServer.with { server, _ in
      let unknown = try await server.get("/nothing/here")
      #expect(unknown.status == 404)
      #expect(unknown.headers["content-type"] == "application/problem+json")
      let problem = try #require(JSONParser().parse(unknown.body).objectValue)
      #expect(problem["status"]?.int64Value == 404 && problem["detail"]?.stringValue != nil)
      let method = try await server.ask("DELETE /healthz HTTP/1.1")
      #expect(method.status == 405 && method.headers["allow"] == "GET, HEAD")
      let strange = try await server.ask("OPTIONS /healthz HTTP/1.1")
      #expect(strange.status == 405 && strange.headers["allow"] == "GET, HEAD")
      let query = try await server.get("/healthz?a=%ff")
      #expect(query.status == 400 && query.body.contains("UTF-8"))
      let many = (0..<30).map { "f\($0)=1" }.joined(separator: "&")
      #expect(try await server.get("/healthz?\(many)").status == 400)
      let keyless = try await server.get("/v1/fleet")
      #expect(keyless.status == 401, "\(keyless.body)")
      #expect(keyless.headers["request-id"] != nil)
    }
  }

  @Test("a connection carries several requests, also when they come at once")
  func pipelining() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      let request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
      connection.send(String(repeating: request, count: 5))
      connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + request)
      let received = await connection.rest()
      #expect(received.isClosed)
      // What comes behind the last one is not answered.
      #expect(received.statuses == [200, 200, 200, 200, 200, 200])
      #expect(received.text.components(of: "connection: close").count == 2)
    }
  }

  @Test("a client of HTTP/1.0 gets one answer, and the end of it")
  func oldClient() async throws {
    try await RunningServer.with { server, _ in
      let connection = try server.connect()
      connection.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      let received = await connection.rest()
      #expect(received.isClosed && received.statuses == [200])
      #expect(received.text.hasPrefix("HTTP/1.0 200"))
    }
  }

  @Test("the server is also reached by pushpool serve, which becomes it")
  func serve() async throws {
    try await RedisServer.with { redis in
      let child = try RunningServer.launch(
        "pushpool",
        ["serve", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--redis", redis.url])
      let server = try await RunningServer.wait(for: child, hasMetrics: true)
      #expect(try await server.get("/healthz").status == 200)
      #expect(await child.terminate(graceMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("pushpool serve says what to build where the server is not there")
  func missing() async throws {
    let folder = try TemporaryFolder()
    let copy = folder.file("pushpool")
    let copying = try ChildProcess(
      "cp", ["\(try BuiltProgram.folder())/pushpool", copy], output: .discard, error: .discard)
    #expect(await copying.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
    let child = try RunningServer.launch(copy, ["serve"])
    #expect(await child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(69))
    let error = await child.standardError?.rest(timeoutMs: RunningServer.timeoutMs) ?? ""
    #expect(error.contains("\(folder.path)/pushpool-server is missing"), "\(error)")
    #expect(error.contains("swift build -c release --product pushpool-server"))
    #expect(error.contains("make build"))
  }
}
