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

  private static func provideFunctions(to nodes: [RedisServer]) async throws {
    try await TestLane.run { lane in
      for node in nodes {
        let connection = try await lane.connect(node)
        defer { connection.close() }
        try await ShardStore(connection: connection, prefix: prefix).registration.provide()
      }
    }
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

  @Test func `a call while its slot is moved changes nothing, and with one key it is refused`()
    async throws
  {
    try await RedisCluster.with(.init(key: Self.prefix)) { cluster in
      let source = try #require(try await cluster.owner())
      let target = try #require(cluster.nodes.first { $0.port != source.port })
      try await Self.provideFunctions(to: [source, target])
      #expect(try await Self.backend(source, "install", [Self.device]).contains("created"))
      let move = try await SlotMove.begin(cluster, to: target)

      /// Nothing is carried out at the target beside what was moved there.
      func expectNothingNew(moved: Int) async throws {
        for (name, arguments) in Self.calls {
          let answer = try await Self.backend(source, name, arguments)
          #expect(answer.contains("TRYAGAIN"), "\(name): \(answer)")
          let alone = try await Self.backend(source, name, keys: ["1", Self.prefix], arguments)
          #expect(
            alone.contains("INVALID pushpool_\(name) takes two keys")
              && alone.contains("in a Redis Cluster"), "\(name): \(alone)")
        }
        #expect(try await move.count(at: target) == moved)
      }
      try await expectNothingNew(moved: 0)
      #expect(try await move.count(at: source) > 1)
      #expect(try await move.moveKeys(1) == 1)
      try await expectNothingNew(moved: 1)
      try await move.moveAll(100)
      try await move.end()

      // What was there is there once more, and once.
      let other = Self.device.replacing("ann", with: "bob")
      #expect(try await Self.backend(source, "install", [other]).contains("moved"))
      let none = try await Self.backend(source, "devices", [#"{"app":"shop","user":"ann"}"#])
      #expect(none.contains("[]"), "\(none)")
      // The program itself declares both keys.
      try await TestLane.run { lane in
        let connection = try await lane.connect(target)
        defer { connection.close() }
        let job = try #require(Self.calls.last?.arguments.last)
        let submitted = try await ShardStore(connection: connection, prefix: Self.prefix).jobs
          .submit(
            Array(job.utf8), priority: .normal, digest: nil)
        #expect(submitted?.status == .created)
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
