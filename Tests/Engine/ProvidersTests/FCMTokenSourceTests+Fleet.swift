import HTTPClient
import LocalServices
import TestSupport
import Testing

@testable import Providers

/// Tokens that the replicas of a fleet have in common.
extension FCMTokenSourceTests {
  @Test("replicas that share use one token, renewed early by one of them")
  func sharesOneToken() async throws {
    let script = Script([token("one"), token("two"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (fleet, sources) = try replicas(3, server)
    let headers = await withTaskGroup(of: String?.self) { group in
      for source in sources { group.addTask { try? await source.current().header } }
      var headers: Set<String?> = []
      for await header in group { headers.insert(header) }
      return headers
    }
    #expect(headers == ["Bearer one"])
    #expect(server.requestCount == 1)
    #expect(fleet.keys.count == 1)
    #expect(fleet.keys[0].hasPrefix("fcm:pushpool@demo-shop.iam.gserviceaccount.com:"))
    clock.advance(minutes: 55)
    for source in sources {
      while try await source.current().header != "Bearer two" { await Task.yield() }
    }
    #expect(server.requestCount == 2)
  }

  @Test("a refused token is replaced by one replica, and the others take what it got")
  func sharesRenewalAfterRefusal() async throws {
    let script = Script([token("bad"), token("good"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (_, sources) = try replicas(2, server)
    for source in sources { #expect(try await source.current().header == "Bearer bad") }
    await withTaskGroup(of: String?.self) { group in
      for source in sources {
        group.addTask {
          try? await source.refused(generation: 1, reason: "UNAUTHENTICATED").header
        }
      }
      for await header in group { #expect(header == "Bearer good") }
    }
    #expect(server.requestCount == 2)
  }

  @Test("an account whose key was replaced under its key id has a token of its own in the fleet")
  func replacedKey() async throws {
    let script = Script([token("old"), token("new"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let fleet = FleetOfTests()
    // The same account, with another key each time.
    var keyID: String?
    let accounts = try (0..<2).map { _ in
      let folder = try TemporaryFolder()
      let file = try FCMServiceAccount(
        folder: folder.path, tokenURI: "http://127.0.0.1:\(server.port)/token")
      let text = try #require(TextFile.read(file.file, bytesMax: 1 << 16))
      let known = keyID ?? file.privateKeyID
      keyID = known
      return try ServiceAccount(
        json: Array(text.replacing(file.privateKeyID, with: known).utf8), file: file.file)
    }
    #expect(accounts[0].keyID != nil && accounts[0].keyID == accounts[1].keyID)
    #expect(accounts[0].clientEmail == accounts[1].clientEmail)
    let sources = accounts.map { account in
      let source = FCMTokenSource(account: account, client: HTTPClient(), clock: clock.wallClock)
      source.share(through: fleet)
      return source
    }
    #expect(sources[0].shareKey != sources[1].shareKey)
    for _ in 0..<2 {
      #expect(try await sources[0].current().header == "Bearer old")
      #expect(try await sources[1].current().header == "Bearer new")
    }
    #expect(server.requestCount == 2)
  }

  @Test("a replica whose exchange failed leaves the turn to the next")
  func givesTurnBack() async throws {
    let down = LocalServer.response(status: "503 Service Unavailable", body: "")
    let script = Script([down, token("up")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (_, sources) = try replicas(2, server)
    #expect(await failure { try await sources[0].current() } != nil)
    #expect(try await sources[1].current().header == "Bearer up")
    clock.advance(minutes: 1)
    #expect(try await sources[0].current().header == "Bearer up")
    #expect(server.requestCount == 2)
  }

  @Test("a shared token from the future is replaced at once", arguments: [1, 10, 40, 600])
  func sharedFuture(minutes: Int64) async throws {
    let script = Script([token("right"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (fleet, sources) = try replicas(2, server)
    let name = sources[0].shareKey
    let future = SharedToken(
      token: "wrong", issuedAtMs: clock.nowMs + minutes * 60_000, lifeMs: 3_600_000)
    _ = try await fleet.agree(key: name, proposal: future, refused: nil, lifeMs: 60_000)
    for source in sources { #expect(try await source.current().header == "Bearer right") }
    #expect(server.requestCount == 1)
  }

  @Test("a turn that nobody gives back ends by itself", arguments: [-30, -1, 1, 600])
  func strayTurn(minutes: Int64) async throws {
    let script = Script([token("one"), token("surplus")])
    let server = LocalServer { script.answer($0) }
    defer { server.close() }
    let (fleet, sources) = try replicas(2, server)
    let name = sources[0].shareKey
    let stray = SharedToken(token: "stray", issuedAtMs: clock.nowMs + minutes * 60_000)
    _ = try await fleet.agree(key: "\(name):turn", proposal: stray, refused: nil, lifeMs: 60_000)
    #expect(try await sources[0].current().header == "Bearer one")
  }

  /// Sources of one account, as the processes of a fleet have them.
  private func replicas(
    _ count: Int, _ server: LocalServer
  ) throws -> (FleetOfTests, [FCMTokenSource]) {
    let folder = try TemporaryFolder()
    let file = try FCMServiceAccount(
      folder: folder.path, tokenURI: "http://127.0.0.1:\(server.port)/token")
    let fleet = FleetOfTests()
    let sources = try (0..<count).map { _ in
      let source = FCMTokenSource(
        account: try ServiceAccount(file: file.file), client: HTTPClient(),
        clock: clock.wallClock)
      source.share(through: fleet)
      return source
    }
    return (fleet, sources)
  }
}
