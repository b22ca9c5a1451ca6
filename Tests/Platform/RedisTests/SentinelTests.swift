import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

/// A master that sentinels name, a replica beside it, and both roles as a connection meets them.
@Suite struct SentinelTests {
  private static func withSentinels(
    _ count: Int, password: String? = nil, quorum: Int = 2,
    _ body: @Sendable (isolated TestLane, RedisServer, [SentinelServer]) async throws -> Void
  ) async throws {
    var options = RedisServer.Options()
    options.tcp = true
    try await RedisServer.with(options) { master in
      var watching = SentinelServer.Options(masterPort: master.port!)
      watching.password = password
      watching.quorum = quorum
      try await SentinelServer.with(count, watching) { sentinels in
        try await TestLane.run { lane in try await body(lane, master, sentinels) }
      }
    }
  }

  private static func place(
    _ sentinels: [SentinelServer], master: String = "pushpool", user: String? = nil,
    password: String? = nil
  ) throws -> RedisPlace {
    .sentinels(
      try SentinelGroup(
        sentinels: sentinels.map { .tcp(host: "127.0.0.1", port: $0.port) }, master: master,
        user: user, password: password, answerMs: TestLane.patienceMs))
  }

  /// Why there is no connection, in the words of the first attempt.
  private static func firstLoss(
    _ lane: isolated TestLane, _ endpoint: RedisEndpoint
  ) async throws -> String {
    let connection = try RedisConnection(loop: lane.loop, endpoint: endpoint)
    let lost = "\(await lane.firstLoss(of: connection))"
    #expect(!connection.isReady)
    connection.close()
    return lost
  }

  @Test("connections go to the master that the sentinels name, also while all but one are dead")
  func named() async throws {
    try await Self.withSentinels(3) { lane, master, sentinels in
      let endpoint = RedisEndpoint(place: try Self.place(sentinels))
      // Of one process: they ask together.
      let first = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      let second = try RedisConnection(loop: lane.loop, endpoint: endpoint)
      for connection in [first, second] { connection.connect() }
      for connection in [first, second] {
        try await connection.waitUntilReady(timeoutMs: 30_000)
        _ = try await connection.call(RedisCommand("INCR", "n"))
      }
      let direct = try await lane.connect(master.endpoint)
      #expect(try await direct.call(RedisCommand("GET", "n")).integer == 2)

      await sentinels[0].kill9()
      await sentinels[2].kill9()
      let late = try await lane.connect(RedisEndpoint(place: try Self.place(sentinels)))
      #expect(try await late.call(RedisCommand("GET", "n")).integer == 2)
      for connection in [first, second, direct, late] { connection.close() }
    }
  }

  @Test("a master that goes on answering is left when most of the sentinels name another")
  func replaced() async throws {
    try await Self.withSentinels(3) { lane, master, sentinels in
      var options = RedisServer.Options()
      options.tcp = true
      try await RedisServer.with(options) { other in
        let connection = try await lane.connect(RedisEndpoint(place: try Self.place(sentinels)))
        #expect(connection.server == .tcp(host: "127.0.0.1", port: master.port!))
        let left = Signal()
        var reasons: [String] = []
        connection.onLost = { reason in
          reasons.append("\(reason)")
          left.raise()
        }
        for sentinel in sentinels.dropLast() { await sentinel.mistakeMaster(port: other.port!) }
        await left.wait()
        try await connection.waitUntilReady(timeoutMs: 30_000)
        #expect(connection.server == .tcp(host: "127.0.0.1", port: other.port!))
        #expect(reasons.first?.contains("and no longer 127.0.0.1:\(master.port!)") == true)
        connection.onLost = nil
        connection.close()
      }
    }
  }

  @Test("a name that they do not know, and sentinels that are away, are told in a sentence each")
  func unknownOrAway() async throws {
    try await Self.withSentinels(1, quorum: 1) { lane, _, sentinels in
      let unknown = RedisEndpoint(place: try Self.place(sentinels, master: "other"))
      let lost = try await Self.firstLoss(lane, unknown)
      #expect(lost.contains("no sentinel knows a master with the name other"), "\(lost)")
      #expect(lost.contains("SENTINEL MASTERS"))
      let known = RedisEndpoint(place: try Self.place(sentinels))
      await sentinels[0].kill9()
      let away = try await Self.firstLoss(lane, known)
      #expect(away.contains("no sentinel says where the master pushpool is"), "\(away)")
      #expect(away.contains("127.0.0.1:\(sentinels[0].port)"))
    }
  }

  @Test("sentinels of two sets that name two masters are not believed")
  func disagreement() async throws {
    try await Self.withSentinels(1) { lane, _, some in
      var options = RedisServer.Options()
      options.tcp = true
      try await RedisServer.with(options) { other in
        let watching = SentinelServer.Options(masterPort: other.port!)
        try await SentinelServer.with(1, watching) { others in
          let endpoint = RedisEndpoint(place: try Self.place(some + others))
          let lost = try await Self.firstLoss(lane, endpoint)
          #expect(lost.contains("disagree about the master pushpool"), "\(lost)")
        }
      }
    }
  }

  @Test("sentinels have a login of their own, and say what is wrong with it without its password")
  func login() async throws {
    let secret = "correct-horse"
    try await Self.withSentinels(1, password: secret, quorum: 1) { lane, _, sentinels in
      let right = RedisEndpoint(place: try Self.place(sentinels, password: secret))
      let connection = try await lane.connect(right)
      #expect(connection.isReady)
      connection.close()
      let none = RedisEndpoint(place: try Self.place(sentinels))
      let asked = try await Self.firstLoss(lane, none)
      #expect(asked.contains("redis.sentinel_password_file"), "\(asked)")
      let wrong = RedisEndpoint(place: try Self.place(sentinels, password: "wrong-battery"))
      let refused = try await Self.firstLoss(lane, wrong)
      #expect(refused.contains("WRONGPASS") && !refused.contains("battery"), "\(refused)")
    }
  }

  @Test("a user of the sentinels with the right that the documents tell, and no other, is enough")
  func user() async throws {
    let line = try #require(
      DocumentSnippet.indented(in: "docs/reference/redis.md")
        .first { $0.hasPrefix("user pushpool-asks ") })
    var options = RedisServer.Options()
    options.tcp = true
    try await TestLane.withRedis(options) { lane, master in
      var watching = SentinelServer.Options(masterPort: master.port!)
      watching.quorum = 1
      watching.configuration = [line]
      try await SentinelServer.with(1, watching) { sentinels in
        let place = try Self.place(
          sentinels, user: "pushpool-asks", password: "sentinel-password")
        let connection = try await lane.connect(RedisEndpoint(place: place))
        #expect(try await connection.call(RedisCommand("PING")).string == "PONG")
        connection.close()
        let other = try Self.place(sentinels, user: "pushpool-asks", password: "wrong-battery")
        let refused = try await Self.firstLoss(lane, RedisEndpoint(place: other))
        #expect(refused.contains("the user pushpool-asks is not known there"), "\(refused)")
        #expect(!refused.contains("battery"))
      }
    }
  }

  @Test("the sentinels are spoken to with TLS, and trusted by an authority of their own")
  func tls() async throws {
    let (theirs, masters) = (try TestCertificates(), try TestCertificates())
    var options = RedisServer.Options()
    options.tls = RedisServer.TLS(masters.server)
    try await TestLane.withRedis(options) { lane, master in
      var watching = SentinelServer.Options(masterPort: master.tlsPort!)
      watching.quorum = 1
      watching.tls = RedisServer.TLS(theirs.server)
      // As a client it trusts the master's.
      watching.configuration = ["tls-ca-cert-file \(masters.authority.certificateFile)"]
      try await SentinelServer.with(1, watching) { sentinels in
        func endpoint(trusting authority: CertificateAuthority) throws -> RedisEndpoint {
          let group = try SentinelGroup(
            sentinels: sentinels.map { .tcp(host: "127.0.0.1", port: $0.tlsPort!) },
            master: "pushpool", tls: true, caFile: authority.certificateFile,
            answerMs: TestLane.patienceMs)
          return RedisEndpoint(
            place: .sentinels(group), tls: true, caFile: masters.authority.certificateFile)
        }
        let connection = try await lane.connect(try endpoint(trusting: theirs.authority))
        #expect(try await connection.call(RedisCommand("PING")).string == "PONG")
        connection.close()
        let refused = try await Self.firstLoss(lane, try endpoint(trusting: masters.authority))
        #expect(refused.contains("no sentinel says where the master pushpool is"), "\(refused)")
        #expect(refused.contains("certificate"), "\(refused)")
      }
    }
  }

  @Test("a Sentinel in the place of a Redis is told, and a Redis in the place of a Sentinel")
  func mistaken() async throws {
    try await Self.withSentinels(1, quorum: 1) { lane, master, sentinels in
      let sentinel = RedisEndpoint(
        endpoint: .tcp(host: "127.0.0.1", port: sentinels[0].port), slotKey: "pushpool")
      let lost = try await Self.firstLoss(lane, sentinel)
      #expect(lost.contains("a Sentinel answers there"), "\(lost)")
      let redis = RedisEndpoint(
        place: .sentinels(
          try SentinelGroup(
            sentinels: [.tcp(host: "127.0.0.1", port: master.port!)], master: "pushpool",
            answerMs: TestLane.patienceMs)))
      let other = try await Self.firstLoss(lane, redis)
      #expect(other.contains("it is no Sentinel"), "\(other)")
      let cluster = RedisEndpoint(
        place: .cluster(seeds: [.tcp(host: "127.0.0.1", port: master.port!)]))
      let single = try await Self.firstLoss(lane, cluster)
      #expect(single.contains("no node of a Redis Cluster"), "\(single)")
    }
  }

  @Test("a replica is ready for those who only read, and a master that becomes one is left")
  func replica() async throws {
    var options = RedisServer.Options()
    options.tcp = true
    try await TestLane.withRedis(options) { lane, master in
      var following = RedisServer.Options()
      following.configuration = ["replicaof 127.0.0.1 \(master.port!)"]
      try await RedisServer.with(following) { replica in
        let refused = try RedisConnection(loop: lane.loop, endpoint: replica.endpoint)
        let told = Signal()
        refused.onLost = { if "\($0)".contains("it is a replica") { told.raise() } }
        refused.connect()
        await told.wait()
        #expect(!refused.isReady)
        refused.close()
        var reading = replica.endpoint
        reading.needsPrimary = false
        let reader = try await lane.connect(reading)
        #expect(reader.isReady)
        reader.close()

        let connection = try await lane.connect(master.endpoint)
        let gone = Signal()
        connection.onLost = { if "\($0)".contains("it is a replica") { gone.raise() } }
        _ = try await connection.call(
          RedisCommand("REPLICAOF", "127.0.0.1", "\(try FreePort.find())"))
        _ = await failure { _ = try await connection.call(RedisCommand("SET", "k", "v")) }
        await gone.wait()
        #expect(!connection.isReady)
        connection.onLost = nil
        var tool = master.endpoint
        tool.needsPrimary = false
        let operating = try await lane.connect(tool)
        _ = try await operating.call(RedisCommand("REPLICAOF", "NO", "ONE"))
        try await connection.waitUntilReady(timeoutMs: 30_000)
        for connection in [connection, operating] { connection.close() }
      }
    }
  }
}
