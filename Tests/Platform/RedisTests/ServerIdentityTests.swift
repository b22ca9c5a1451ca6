import Reactor
import Testing

@testable import Redis

/// What a server says that it is, and whether that is the one that is meant.
@Suite struct ServerIdentityTests {
  private static let address = Endpoint.tcp(host: "h", port: 6379)

  private func identity(_ words: [String]) throws -> ServerIdentity? {
    let lines = words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }
    let reader = ReplyReader()
    var found: ServerIdentity?
    let bytes = Array("*\(words.count)\r\n\(lines.joined())".utf8)
    try bytes.withUnsafeBytes { try reader.feed($0) }
    _ = try reader.next { found = ServerIdentity($0) }
    return found
  }

  @Test("the reply to HELLO tells mode and role, and what nobody knows says nothing")
  func reads() throws {
    #expect(
      try identity(["server", "redis", "mode", "standalone", "role", "replica"])
        == ServerIdentity(mode: .standalone, isReplica: true))
    #expect(
      try identity(["mode", "cluster", "role", "master"]) == ServerIdentity(mode: .cluster))
    #expect(try identity(["mode", "sentinel", "modules"]) == ServerIdentity(mode: .sentinel))
    #expect(try identity(["mode", "else", "role", "observer"]) == ServerIdentity(mode: nil))
    #expect(try identity([]) == ServerIdentity(mode: nil))
  }

  @Test("a server that is not the one that is meant is refused with what to do")
  func refuses() throws {
    let replica = ServerIdentity(mode: .standalone, isReplica: true)
    let primary = ServerIdentity(mode: .standalone)
    let group = try SentinelGroup(sentinels: [Self.address], master: "m")
    let cases: [(RedisPlace, ServerIdentity, String?)] = [
      (.server(Self.address), ServerIdentity(mode: .sentinel), "redis+sentinel://"),
      (.server(Self.address), replica, "name its primary in redis.url"),
      (.sentinels(group), replica, "the sentinels call it the master m"),
      (.cluster(seeds: [Self.address]), primary, "no node of a Redis Cluster"),
      (.server(Self.address), primary, nil), (.sentinels(group), primary, nil),
      (.server(Self.address), ServerIdentity(mode: nil), nil),
      (.cluster(seeds: [Self.address]), ServerIdentity(mode: .cluster), nil),
    ]
    for (place, server, words) in cases {
      let refusal = RedisEndpoint(place: place).refusal(of: server)
      #expect((refusal == nil) == (words == nil), "\(place): \(String(describing: refusal))")
      if let words { #expect(refusal?.bareReason.contains(words) == true, "\(place)") }
    }
  }

  @Test("whoever only reads may use a replica at an address that somebody gave, and no other")
  func reading() throws {
    let replica = ServerIdentity(mode: .standalone, isReplica: true)
    let group = try SentinelGroup(sentinels: [Self.address], master: "m")
    var given = RedisEndpoint(endpoint: Self.address)
    given.needsPrimary = false
    #expect(given.refusal(of: replica) == nil)
    var named = RedisEndpoint(place: .sentinels(group))
    named.needsPrimary = false
    #expect(named.refusal(of: replica) != nil)
  }
}
