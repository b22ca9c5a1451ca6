import LocalServices
import Model
import Reactor
import Redis
import TestSupport
import Testing

@testable import Store

/// The functions for registration, called by a cluster's stock client while the cluster moves their slot to another node.
@Suite struct RegistrationClusterTests {
  private static let prefix = "{pp}"
  private static let keys = ["2", prefix, "\(prefix):guard"]
  private static let device =
    #"{"app":"shop","user":"ann","network":"apns","token":"cdcdcdcd"}"#
  private static let calls: [(name: String, arguments: [String])] = [
    ("install", [device]), ("create", [device]),
    ("uninstall", [#"{"app":"shop","network":"apns","token":"cdcdcdcd"}"#]),
    ("devices", [#"{"app":"shop","user":"ann"}"#]),
    ("subscribe", [#"{"app":"shop","topic":"news","user":"ann"}"#]),
    ("unsubscribe", [#"{"app":"shop","topic":"news","user":"ann"}"#]),
    (
      "submit",
      [
        "normal",
        #"{"id":"j","app":"shop","audience":{"users":["ann"]},"notification":{"title":"Hi"}}"#,
      ]
    ),
  ]

  private static var options: RedisServer.Options {
    var options = RedisServer.Options()
    options.tcp = true
    options.configuration = [
      "cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-announce-ip 127.0.0.1",
      "cluster-node-timeout 2000",
    ]
    return options
  }

  /// Calls a function as a backend does whose client knows clusters: it follows MOVED and ASK.
  private static func backend(
    _ server: RedisServer, _ function: String, keys: [String] = keys, _ arguments: [String]
  ) async throws -> String {
    let child = try ChildProcess(
      "redis-cli",
      ["-c", "-p", "\(server.port!)", "FCALL", "pushpool_\(function)"] + keys + arguments,
      output: .pipe, error: .pipe)
    _ = await child.waitForExit(timeoutMs: 30_000)
    let output = await child.standardOutput?.rest(timeoutMs: 10_000) ?? ""
    return output + (await child.standardError?.rest(timeoutMs: 10_000) ?? "")
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

  /// Joins two nodes, of which the first serves all slots.
  private func join(
    _ lane: isolated TestLane, _ source: RedisConnection, _ target: RedisConnection, port: UInt16
  ) async throws {
    _ = try await source.call(RedisCommand("CLUSTER", "ADDSLOTSRANGE", "0", "16383"))
    _ = try await target.call(RedisCommand("CLUSTER", "MEET", "127.0.0.1", "\(port)"))
    for node in [source, target] {
      _ = try await eventually(lane, "the cluster serves") {
        let info = try await node.call(RedisCommand("CLUSTER", "INFO")).string ?? ""
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:2")
          ? true : nil
      }
    }
  }

  @Test func `a call while its slot is moved changes nothing, and with one key it is refused`()
    async throws
  {
    try await Lane.withServer(Self.options) { lane, one in
      try await RedisServer.with(Self.options) { two in
        let (source, target) = (try await lane.connect(one), try await lane.connect(two))
        try await join(lane, source, target, port: one.port!)
        for node in [source, target] {
          try await ShardStore(connection: node, prefix: Self.prefix).registration.provide()
        }
        #expect(try await Self.backend(one, "install", [Self.device]).contains("created"))

        let slot = String(
          try #require(
            try await source.call(RedisCommand("CLUSTER", "KEYSLOT", Self.prefix)).integer))
        let (from, to) = (
          try #require(try await source.call(RedisCommand("CLUSTER", "MYID")).string),
          try #require(try await target.call(RedisCommand("CLUSTER", "MYID")).string)
        )
        // Each has to know the other by its id first.
        for (node, change, other) in [(target, "IMPORTING", from), (source, "MIGRATING", to)] {
          _ = try await eventually(lane, "the slot is \(change)") {
            try? await node.call(RedisCommand("CLUSTER", "SETSLOT", slot, change, other))
          }
        }

        /// Nothing is carried out at the target beside what was moved there.
        func expectNothingNew(moved: Int) async throws {
          for (name, arguments) in Self.calls {
            let answer = try await Self.backend(one, name, arguments)
            #expect(answer.contains("TRYAGAIN"), "\(name): \(answer)")
            let alone = try await Self.backend(one, name, keys: ["1", Self.prefix], arguments)
            #expect(
              alone.contains("INVALID pushpool_\(name) takes two keys")
                && alone.contains("in a Redis Cluster"), "\(name): \(alone)")
          }
          let count = try await target.call(RedisCommand("CLUSTER", "COUNTKEYSINSLOT", slot))
          #expect(count.integer == moved)
        }
        try await expectNothingNew(moved: 0)

        let keys =
          try await source.call(
            RedisCommand("CLUSTER", "GETKEYSINSLOT", slot, "1000")
          ).array?.compactMap(\.string) ?? []
        #expect(keys.count > 1)
        for (moved, key) in keys.enumerated() {
          if moved == 1 { try await expectNothingNew(moved: 1) }
          let answer = try await source.call(
            RedisCommand("MIGRATE", "127.0.0.1", "\(two.port!)", key, "0", "10000"))
          #expect(answer.string == "OK", "\(key): \(answer)")
        }
        for node in [target, source] {
          _ = try await node.call(RedisCommand("CLUSTER", "SETSLOT", slot, "NODE", to))
        }

        // What was there is there once more, and once.
        let other = Self.device.replacing("ann", with: "bob")
        #expect(try await Self.backend(one, "install", [other]).contains("moved"))
        let none = try await Self.backend(one, "devices", [#"{"app":"shop","user":"ann"}"#])
        #expect(none.contains("[]"), "\(none)")
        // The program itself declares both keys.
        let job = try #require(Self.calls.last?.arguments.last)
        let submitted = try await ShardStore(connection: target, prefix: Self.prefix).jobs.submit(
          Array(job.utf8), priority: .normal, digest: nil)
        #expect(submitted?.status == .created)
        for connection in [source, target] { connection.close() }
      }
    }
  }

  @Test func `outside of a cluster a call takes one key or two`() async throws {
    try await Lane.withServer { lane, server in
      let connection = try await lane.connect(server)
      defer { connection.close() }
      for prefix in ["pp", Self.prefix] {
        try await ShardStore(connection: connection, prefix: prefix).registration.provide()
        for keys in [["1", prefix], ["2", prefix, "\(prefix):guard"]] {
          for (name, arguments) in Self.calls {
            var command = RedisCommand("FCALL", "pushpool_\(name)")
            for word in keys + arguments { command.append(word) }
            let answer = try await connection.call(command)
            #expect(answer.string?.isEmpty == false, "\(name): \(answer)")
          }
        }
        #expect(try await connection.call(RedisCommand("EXISTS", "\(prefix):guard")).integer == 0)
      }
    }
  }
}
