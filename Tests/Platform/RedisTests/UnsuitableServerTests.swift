import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

/// What is said of a server that was reached and cannot serve as things are.
@Suite struct UnsuitableServerTests {
  private static let library = FunctionLibrary(
    name: "lib", version: "a1",
    template: """
      #!lua name=lib_@VERSION@
      redis.register_function{
        function_name = 'answer_@VERSION@', callback = function() return 7 end, flags = {'no-writes'}}
      """)

  private func firstLoss(
    _ lane: isolated TestLane, _ endpoint: RedisEndpoint, library: FunctionLibrary? = nil
  ) async throws -> RedisError {
    let connection = try RedisConnection(loop: lane.loop, endpoint: endpoint, library: library)
    defer { connection.close() }
    return await lane.firstLoss(of: connection)
  }

  /// The server stands for one of an older version: it is the one that is here, without the command that an older one lacks.
  @Test("a server without functions is named with its version and with what is needed")
  func withoutFunctions() async throws {
    for (lines, name) in [
      (["rename-command FUNCTION \"\""], "Redis "),
      (["rename-command FUNCTION \"\"", "rename-command INFO \"\""], "the server"),
    ] {
      var options = RedisServer.Options()
      options.configuration = lines
      try await TestLane.withRedis(options) { lane, server in
        let lost = try await firstLoss(lane, server.endpoint, library: Self.library)
        guard case .unsuitable(let reason) = lost else {
          Issue.record("\(lost)")
          return
        }
        #expect(reason.hasPrefix(name), "\(reason)")
        #expect(reason.contains("does not know FUNCTION: pushpool needs Redis 7.0 or later"))
        // What calls no functions works there.
        let plain = try await lane.connect(server.endpoint)
        #expect(plain.isReady)
        plain.close()
      }
    }
  }

  @Test("a server that cannot save is ready for those that read, and tells those that write why")
  func cannotSave() async throws {
    try await TestLane.withRedis { lane, server in
      let before = try await lane.connect(server.endpoint, library: Self.library)
      _ = try await before.call(RedisCommand("SET", "key", "value"))
      before.close()
      try await server.refuseWrites()
      let connection = try await lane.connect(server.endpoint, library: Self.library)
      #expect(try await connection.call(RedisCommand("GET", "key")).string == "value")
      let error = await failure { _ = try await connection.call(RedisCommand("SET", "key", "x")) }
      guard case .server("MISCONF", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(error?.remedy?.contains("redis-cli BGSAVE") == true)
      try await server.takeWritesAgain()
      _ = try await connection.call(RedisCommand("SET", "key", "x"))
      connection.close()
    }
  }

  @Test("TLS on one side only is named with the URL that is right")
  func tlsMismatch() async throws {
    let certificates = try TestCertificates()
    var options = RedisServer.Options()
    options.tcp = true
    options.tls = RedisServer.TLS(certificates.server)
    try await TestLane.withRedis(options) { lane, server in
      for (port, tls, advice) in [
        (server.tlsPort, false, "write rediss:// in place of redis://"),
        (server.port, true, "write redis:// in place of rediss://"),
      ] {
        let endpoint = RedisEndpoint(
          endpoint: .tcp(host: "127.0.0.1", port: port!), tls: tls,
          caFile: tls ? certificates.authority.certificateFile : nil)
        let lost = try await firstLoss(lane, endpoint)
        #expect("\(lost)".contains("TLS") && "\(lost)".contains(advice), "\(lost)")
      }
      let group = try SentinelGroup(
        sentinels: [.tcp(host: "127.0.0.1", port: server.tlsPort!)], master: "m",
        answerMs: TestLane.patienceMs)
      let lost = try await firstLoss(lane, RedisEndpoint(place: .sentinels(group)))
      #expect(
        "\(lost)".contains("write rediss+sentinel:// in place of redis+sentinel://"), "\(lost)")
    }
  }

  @Test("the advice names the URL of the place that was asked, and of no other")
  func advisesByPlace() throws {
    let one = Endpoint.tcp(host: "h", port: 1)
    let group = try SentinelGroup(sentinels: [one], master: "m")
    let places: [(RedisPlace, String)] = [
      (.server(one), "rediss://"), (.cluster(seeds: [one]), "rediss+cluster://"),
      (.sentinels(group), "rediss+sentinel://"),
    ]
    for (place, secure) in places {
      let advice = TLSMismatch.advice(
        nil, at: one, usesTLS: false, hasAnswered: false, scheme: place.scheme)
      #expect(advice?.contains("write \(secure) in place of") == true, "\(advice ?? "none")")
      let other = TLSMismatch.advice(
        .handshakeTimeout(one), at: one, usesTLS: true, hasAnswered: false, scheme: place.scheme)
      #expect(other?.contains("in place of \(secure)") == true, "\(other ?? "none")")
    }
  }

  @Test("an end of the connection that says nothing of TLS is told as it is")
  func noAdvice() {
    let place = Endpoint.tcp(host: "h", port: 1)
    let untrusted = StreamFailure.tls("certificate verify failed")
    #expect(
      TLSMismatch.advice(untrusted, at: place, usesTLS: true, hasAnswered: false) == nil)
    #expect(TLSMismatch.advice(nil, at: place, usesTLS: false, hasAnswered: true) == nil)
    #expect(
      TLSMismatch.advice(nil, at: .unix(path: "/s"), usesTLS: false, hasAnswered: false) == nil)
  }

  @Test("a refusal by the ACL names the right that lacks, and no user or token")
  func missingRights() async throws {
    try await TestLane.withRedis { lane, server in
      let admin = try await lane.connect(server.endpoint, library: Self.library)
      _ = try await admin.call(
        RedisCommand(
          "ACL", "SETUSER", "reader", "on", ">pw", "resetkeys", "%R~p", "%R~p:open", "-@all",
          "+get",
          "+ping", "+fcall_ro"))
      var endpoint = server.endpoint
      endpoint.user = "reader"
      endpoint.password = "pw"
      let reader = try RedisConnection(
        loop: lane.loop, endpoint: endpoint, library: Self.library, needsLibrary: false)
      reader.connect()
      try await reader.waitUntilReady(timeoutMs: 30_000)
      for (words, right) in [
        (["GET", "p:user:shop:ann"], MissingRight.key(pattern: "p:user:*")),
        (["GET", "other"], .key(pattern: "other")), (["SET", "p:open", "x"], .command("set")),
        (["FUNCTION", "LOAD", "x"], .command("function|load")),
      ] {
        var command = RedisCommand()
        for word in words { command.append(word) }
        let error = await failure { _ = try await reader.call(command) }
        #expect(error?.missingRight == right, "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("ann") } == false)
      }
      // It calls what writes nothing, and says which right lacks for the rest.
      let answer = try await reader.callReadingFunction("answer_a1", RedisCommand("1", "p")) {
        $0.integer
      }
      #expect(answer == 7)
      let error = await failure {
        _ = try await reader.callFunction(RedisCommand("FCALL", "answer_a1", "1", "p")) {
          $0.integer
        }
      }
      #expect(error?.missingRight == .command("fcall"))
      reader.close()
      admin.close()
    }
  }
}
