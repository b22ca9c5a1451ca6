import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

/// A Redis Cluster of which one node serves everything of ours.
@Suite struct ClusterTests {
  private static let slotKey = "{pushpool}"

  private static let options = RedisServer.Options().asClusterNode

  private func endpoint(_ server: RedisServer, slotKey: String? = slotKey) -> RedisEndpoint {
    RedisEndpoint(
      endpoint: .tcp(host: "127.0.0.1", port: server.port!), slotKey: slotKey)
  }

  /// Without a slot key, as a tool of the cluster's own.
  private func tool(
    _ lane: isolated TestLane, _ server: RedisServer
  ) async throws -> RedisConnection {
    try await lane.connect(server.endpoint)
  }

  private func eventually<Value>(
    _ lane: isolated TestLane, _ what: String, _ poll: () async throws -> Value?
  ) async throws -> Value {
    for _ in 0..<3_000 {
      if let value = try await poll() { return value }
      await lane.loop.sleep(ms: 10)
    }
    throw RedisError.unexpectedReply("never happened: \(what)")
  }

  private func untilServing(
    _ lane: isolated TestLane, _ tool: RedisConnection
  ) async throws {
    _ = try await eventually(lane, "the cluster serves") {
      let info = try await tool.call(RedisCommand("CLUSTER", "INFO")).string ?? ""
      return info.contains("cluster_state:ok") ? true : nil
    }
  }

  @Test("a node that serves no slot of ours is never called ready, and the reason is told")
  func clusterDown() async throws {
    try await TestLane.withRedis(Self.options) { lane, server in
      let connection = try RedisConnection(loop: lane.loop, endpoint: endpoint(server))
      let lost = await lane.firstLoss(of: connection)
      #expect("\(lost)".contains("CLUSTERDOWN"), "\(lost)")
      // It is there: nobody is to start it.
      let isThere = if case .unsuitable = lost { true } else { false }
      #expect(isThere, "\(lost)")
      #expect(!connection.isReady)
      connection.close()
    }
  }

  @Test("after a failover the connection goes to the node that the old one names")
  func failover() async throws {
    try await TestLane.withRedis(Self.options) { lane, first in
      try await RedisServer.with(Self.options) { second in
        let (one, two) = (try await tool(lane, first), try await tool(lane, second))
        _ = try await one.call(RedisCommand("CLUSTER", "ADDSLOTSRANGE", "0", "16383"))
        _ = try await two.call(
          RedisCommand("CLUSTER", "MEET", "127.0.0.1", "\(first.port!)"))
        try await untilServing(lane, one)
        try await untilServing(lane, two)
        let id = try await one.call(RedisCommand("CLUSTER", "MYID")).string!
        _ = try await eventually(lane, "the second node follows the first") {
          try? await two.call(RedisCommand("CLUSTER", "REPLICATE", id))
        }
        let connection = try await lane.connect(endpoint(first))
        _ = try await connection.call(RedisCommand("SET", "{pushpool}:k", "before"))
        _ = try await eventually(lane, "the second node has what the first has") {
          try await one.call(RedisCommand("WAIT", "1", "100")).integer == 1 ? true : nil
        }
        _ = try await two.call(RedisCommand("CLUSTER", "FAILOVER", "TAKEOVER"))
        _ = try await eventually(lane, "the first node follows the second") {
          let role = try await one.call(RedisCommand("ROLE")).array?.first?.string
          return role == "slave" ? true : nil
        }

        // Commands that arrive at the replica fail until the connection has moved.
        _ = try await eventually(lane, "the connection has moved") {
          do throws(RedisError) {
            return try await connection.call(RedisCommand("SET", "{pushpool}:k", "after"))
          } catch {
            #expect(error.isTemporary, "\(error)")
            return nil
          }
        }
        #expect(try await two.call(RedisCommand("GET", "{pushpool}:k")).string == "after")

        // One that comes anew, to the old address, moves before it is called ready.
        let late = try await lane.connect(endpoint(first))
        #expect(try await late.call(RedisCommand("GET", "{pushpool}:k")).string == "after")

        // The configured node is gone for good: the one that was of use last is asked.
        await first.kill9()
        _ = try await two.call(RedisCommand("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
        let value = try await eventually(lane, "the connection is back") {
          try? await connection.call(RedisCommand("GET", "{pushpool}:k")).string
        }
        #expect(value == "after")
        for connection in [connection, late, one, two] { connection.close() }
      }
    }
  }

  @Test("one seed that answers is enough, and where none does the reason of each is told")
  func seeds() async throws {
    try await TestLane.withRedis(Self.options) { lane, server in
      let tool = try await tool(lane, server)
      _ = try await tool.call(RedisCommand("CLUSTER", "ADDSLOTSRANGE", "0", "16383"))
      try await untilServing(lane, tool)
      let dead = Endpoint.tcp(host: "127.0.0.1", port: try FreePort.find())
      let alive = Endpoint.tcp(host: "127.0.0.1", port: server.port!)
      let connection = try await lane.connect(
        RedisEndpoint(place: .cluster(seeds: [dead, alive]), slotKey: Self.slotKey))
      _ = try await connection.call(RedisCommand("SET", "{pushpool}:k", "v"))
      #expect(try await tool.call(RedisCommand("GET", "{pushpool}:k")).string == "v")
      for connection in [connection, tool] { connection.close() }

      let away = Endpoint.unix(path: "/nowhere/redis.sock")
      let lost = try RedisConnection(
        loop: lane.loop, endpoint: RedisEndpoint(place: .cluster(seeds: [dead, away])))
      let reason = "\(await lane.firstLoss(of: lost))"
      #expect(reason.contains("\(dead): ") && reason.contains("\(away): "), "\(reason)")
      lost.close()
    }
  }

  @Test("a prefix that is no hash tag is told, in place of a tour of the nodes")
  func noHashTag() async throws {
    let moved = RedisError.server(code: "MOVED", message: "3999 127.0.0.1:6381")
    let here = Endpoint.tcp(host: "10.0.0.1", port: 6379)
    let refusal = ClusterRefusal(moved, here: here, slotKey: "pushpool")
    #expect(refusal?.next == nil && refusal?.reason.contains("{pushpool}") == true)
  }

  @Test(
    "MOVED names a node by host and port, by port alone, or not at all",
    arguments: [
      ("3999 127.0.0.1:6381", Endpoint.tcp(host: "127.0.0.1", port: 6381)),
      ("3999 ::1:6381", .tcp(host: "::1", port: 6381)),
      ("3999 :6381", .tcp(host: "10.0.0.1", port: 6381)),
      ("3999 ?:6381", nil), ("3999 x:0", nil), ("3999 x:70000", nil), ("", nil), ("3999", nil),
    ])
  func moved(message: String, expected: Endpoint?) {
    let refusal = ClusterRefusal(
      .server(code: "MOVED", message: message), here: .tcp(host: "10.0.0.1", port: 6379),
      slotKey: Self.slotKey)
    #expect(refusal != nil && refusal?.next == expected)
  }
}
