import LocalServices
import Testing

@testable import Server

/// Requests that read much, of which a caller has a few at a time.
@Suite struct SearchLineTests {
  /// Lets what waits go on when the test says so.
  private actor Door {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var mostAtOnce = 0
    private(set) var passed = 0
    private var inside = 0

    func pass() async {
      inside += 1
      mostAtOnce = max(mostAtOnce, inside)
      if !isOpen { await withCheckedContinuation { waiting.append($0) } }
      inside -= 1
      passed += 1
    }

    func open() {
      isOpen = true
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  @Test("a caller has a few at a time, the others wait, and those beyond are refused")
  func bounded() async throws {
    let line = SearchLine(runningMax: 2, waitingMax: 3)
    let door = Door()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<5 {
        group.addTask {
          try? await line.run(of: "a") { () throws(Problem) in await door.pass() }
        }
      }
      while line.count(of: "a") < 5 { await Task.yield() }
      let refused = await #expect(throws: Problem.self) {
        try await line.run(of: "a") { () throws(Problem) in Issue.record("it ran") }
      }
      #expect(refused?.status == 429 && refused?.retryAfterS == 1)
      // Another caller has a line of its own.
      let other = try? await line.run(of: "b") { () throws(Problem) in 7 }
      #expect(other == 7)
      await door.open()
    }
    #expect(await door.passed == 5)
    #expect(await door.mostAtOnce == 2)
    #expect(line.count(of: "a") == 0 && line.count(of: "b") == 0)
  }

  @Test("one that fails makes room for the next")
  func failing() async throws {
    let line = SearchLine(runningMax: 1, waitingMax: 0)
    for _ in 0..<3 {
      let problem = await #expect(throws: Problem.self) {
        try await line.run(of: "a") { () throws(Problem) in throw .notFound("x") }
      }
      #expect(problem?.status == 404)
    }
  }

  @Test("a server lets a key have so many lists in hand, and tells of those beyond")
  func served() async throws {
    try await RunningServer.with { server, redis in
      let key = try await RunningServer.key(role: "server", redis)
      func ask(_ path: String) throws -> RawConnection {
        let connection = try server.connect()
        connection.send(
          "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
        return connection
      }
      // From now on the server knows the key for some seconds.
      let known = try ask("/v1/session")
      #expect(try await known.answer().status == 200)
      await redis.freeze()
      let beyond = 40
      var connections: [RawConnection] = []
      for _ in 0..<(ServerLimits.searchesMax + ServerLimits.waitingSearchesMax + beyond) {
        connections.append(try ask("/v1/apps/shop/jobs"))
      }
      let statuses = await withTaskGroup(of: Int?.self) { group in
        for connection in connections {
          group.addTask { try? await connection.answer().status }
        }
        var statuses: [Int] = []
        for await status in group {
          statuses.append(status ?? 0)
          if status == 429 { await redis.thaw() }
        }
        return statuses
      }
      // A list that Redis keeps waiting for too long makes room for another.
      let refused = statuses.count { $0 == 429 }
      #expect((1...beyond).contains(refused), "\(refused)")
    }
  }

  @Test("lists and searches wait for their turn, and what one key of Redis answers does not")
  func routes() {
    let routes = RouteStage.routes + InstallationRoutes.all + TopicRoutes.all
    let searches = Set(
      routes.filter(\.isSearch).map { "\($0.method.rawValue) \($0.pattern.text)" })
    for route in [
      "GET /v1/jobs", "GET /v1/apps/{app}/jobs", "GET /v1/apps/{app}/jobs/{id}",
      "GET /v1/dead-letters", "GET /v1/apps/{app}/dead-letters:summary",
      "POST /v1/apps/{app}/dead-letters:drop", "GET /v1/apps/{app}/topics", "GET /v1/acts",
      "GET /v1/metrics/outcomes", "GET /v1/timeline", "GET /v1/apps/{app}/jobs/{id}/trace",
    ] { #expect(searches.contains(route), "\(route)") }
    let all = Set(routes.map { "\($0.method.rawValue) \($0.pattern.text)" })
    for route in [
      "PUT /v1/apps/{app}/installations/{network}/{token}", "POST /v1/apps/{app}/jobs",
      "PUT /v1/apps/{app}/topics/{topic}/users/{user}", "GET /v1/switches",
    ] { #expect(all.contains(route) && !searches.contains(route), "\(route)") }
  }
}
