import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

/// Who this program is to Redis, and what it says when that is refused.
@Suite struct LoginTests {
  private static let secret = "correct-horse-battery"

  private func firstLoss(
    _ lane: isolated TestLane, _ endpoint: RedisEndpoint
  ) async throws -> RedisError {
    let connection = try RedisConnection(loop: lane.loop, endpoint: endpoint)
    defer { connection.close() }
    return await lane.firstLoss(of: connection)
  }

  @Test("a server that does not know AUTH repeats its arguments, and nobody sees them")
  func unknownCommand() async throws {
    var options = RedisServer.Options()
    options.configuration = ["rename-command AUTH \"\""]
    try await TestLane.withRedis(options) { lane, server in
      for user in ["push", nil] {
        var endpoint = server.endpoint
        endpoint.user = user
        endpoint.password = Self.secret
        let lost = try await firstLoss(lane, endpoint)
        #expect(!"\(lost)".contains(Self.secret), "\(lost)")
        #expect("\(lost)".contains("AUTH"), "\(lost)")
      }
    }
  }

  @Test("the arguments of any command that a server does not know stay out of the error")
  func unknownCommands() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(server.endpoint)
      let error = await failure {
        _ = try await connection.call(RedisCommand("PUTSECRET", "key", Self.secret))
      }
      #expect(error != nil && !"\(error!)".contains(Self.secret), "\(String(describing: error))")
      connection.close()
    }
  }

  @Test("a user without a password logs in as that user, not as default")
  func nopass() async throws {
    var options = RedisServer.Options()
    options.configuration = ["user push on nopass ~pushpool* +@all -flushall"]
    try await TestLane.withRedis(options) { lane, server in
      var endpoint = server.endpoint
      endpoint.user = "push"
      let connection = try await lane.connect(endpoint)
      #expect(try await connection.call(RedisCommand("ACL", "WHOAMI")).string == "push")
      connection.close()
    }
  }

  @Test("a user that needs a password and has none here is refused with a sentence")
  func missingPassword() async throws {
    var options = RedisServer.Options()
    options.configuration = ["user push on >\(Self.secret) ~* +@all"]
    try await TestLane.withRedis(options) { lane, server in
      var endpoint = server.endpoint
      endpoint.user = "push"
      let lost = try await firstLoss(lane, endpoint)
      guard case .server("WRONGPASS", let message) = lost else {
        Issue.record("\(lost)")
        return
      }
      #expect(message.contains("user push"))
    }
  }

  @Test("a password that the server does not ask for is told as that")
  func needlessPassword() async throws {
    try await TestLane.withRedis { lane, server in
      var endpoint = server.endpoint
      endpoint.password = Self.secret
      let lost = try await firstLoss(lane, endpoint)
      #expect("\(lost)".contains("take it out"), "\(lost)")
    }
  }

  @Test("what a server says to whoever connects is no refusal of the login")
  func saidToAll() {
    for (code, message) in [
      ("ERR", "max number of clients reached"), ("DENIED", "Redis is running in protected mode"),
    ] {
      let refusal = RedisError.server(code: code, message: message)
      #expect(LoginRefusal.error(for: refusal, user: "push") == refusal)
    }
  }
}
