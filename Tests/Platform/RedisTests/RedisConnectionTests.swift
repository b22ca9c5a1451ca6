import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

@Suite struct RedisConnectionTests {
  @Test func `pipelined commands are answered in their order`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      let log = Log()
      for _ in 0..<1_000 {
        connection.send(RedisCommand("INCR", "n")) { log.note($0) }
      }
      #expect(try await connection.call(RedisCommand("GET", "n")).integer == 1_000)
      #expect(log.numbers == Array(1...1_000))
      connection.close()
    }
  }

  @Test func `replies cut into single bytes are read right`() async throws {
    try await TestLane.withRedis { lane, server in
      let proxy = try DrippingProxy(loop: lane.loop, server: .unix(path: server.socketPath))
      let connection = try await lane.connect(RedisEndpoint(endpoint: proxy.endpoint))
      _ = try await connection.call(RedisCommand("RPUSH", "list", "a", "", "c\r\nd"))
      let log = Log()
      for _ in 0..<20 { connection.send(RedisCommand("INCR", "n")) { log.note($0) } }
      let list = try await connection.call(RedisCommand("LRANGE", "list", "0", "-1"))
      #expect(list.array?.compactMap { $0.string } == ["a", "", "c\r\nd"])
      #expect(log.numbers == Array(1...20))
      connection.close()
      proxy.close()
    }
  }

  @Test func `an error reply carries its code and leaves the connection alone`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      _ = try await connection.call(RedisCommand("SET", "k", "text"))
      let error = await failure {
        _ = try await connection.call(RedisCommand("LPUSH", "k", "x"))
      }
      guard case .server("WRONGTYPE", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await connection.call(RedisCommand("GET", "k")).string == "text")
      connection.close()
    }
  }

  @Test func `a blocking command has no time limit when none is asked for`() async throws {
    try await TestLane.withRedis { lane, server in
      let waiting = try await lane.connect(server.endpoint)
      let other = try await lane.connect(server.endpoint)
      let log = Log()
      waiting.send(RedisCommand("BLPOP", "list", "0"), timeoutMs: nil) { log.note($0) }
      _ = try await other.call(RedisCommand("RPUSH", "list", "5"))
      _ = try await waiting.call(RedisCommand("PING"))
      #expect(log.count == 1)
      waiting.close()
      other.close()
    }
  }

  @Test func `the database and the client's name are set on connecting`() async throws {
    try await TestLane.withRedis { lane, server in
      var endpoint = server.endpoint
      endpoint.database = 3
      endpoint.clientName = "lane-7"
      let connection = try await lane.connect(endpoint)
      let info = try await connection.call(RedisCommand("CLIENT", "INFO")).string ?? ""
      #expect(info.contains("name=lane-7"))
      #expect(info.contains("db=3"))
      connection.close()
    }
  }

  @Test func `a password is given, and a wrong one is told without repeating it`() async throws {
    var options = RedisServer.Options()
    options.password = "correct-horse"
    try await TestLane.withRedis(options) { lane, server in
      var endpoint = server.endpoint
      endpoint.password = "correct-horse"
      let connection = try await lane.connect(endpoint)
      #expect(try await connection.call(RedisCommand("PING")).string == "PONG")
      connection.close()

      endpoint.password = "wrong-battery"
      let refused = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      let lost = await lane.firstLoss(of: refused)
      guard case .server("WRONGPASS", _) = lost else {
        Issue.record("\(lost)")
        return
      }
      #expect(!"\(lost) \(endpoint)".contains("battery"))
      refused.close()
    }
  }

  @Test func `TLS verifies the server against the given authority`() async throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(folder: folder.path)
    var options = RedisServer.Options()
    options.tls = RedisServer.TLS(try authority.issueServer())
    let caFile = authority.certificateFile
    try await TestLane.withRedis(options) { lane, server in
      var endpoint = RedisEndpoint(
        endpoint: .tcp(host: "localhost", port: server.tlsPort!), tls: true, caFile: caFile)
      let connection = try await lane.connect(endpoint)
      #expect(try await connection.call(RedisCommand("ECHO", "secret")).string == "secret")
      connection.close()

      endpoint.caFile = nil
      let untrusting = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      let lost = await lane.firstLoss(of: untrusting)
      #expect(lost.description.contains("TLS"))
      untrusting.close()
    }
  }
}

/// What the handlers of a test got; loop-bound.
final class Log {
  private(set) var results: [Result<RESPValue, RedisError>] = []
  var count: Int { results.count }
  var numbers: [Int] { results.compactMap { try? $0.get().integer } }
  var failures: [RedisError] {
    results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }

  func note(_ result: Result<RedisReply, RedisError>) {
    results.append(result.map { RESPValue($0) })
  }
}
