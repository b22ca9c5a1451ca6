import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// Another node of a Redis Cluster comes to serve everything of ours, under load.
@Suite struct ClusterFailoverTests {
  enum Change: CaseIterable {
    /// The node that serves dies, which is the first that `redis.url` names. It comes back later with what it thinks that it is.
    case killed
    /// An operator has its replica take over.
    case asked
    /// An operator moves the slot to another master, key by key.
    case moved
  }

  private static let prefix = "{pushpool}"
  private static let jobs = 12
  private static let usersPerJob = 60
  /// 400 pushes a second: it happens in the middle.
  private static let worker = WorkerConfiguration.narrow(20, leaseSeconds: 2)

  private static func withCluster(
    _ body: (PushStage, RedisCluster) async throws -> Void
  ) async throws {
    try await PushStage.with(script: .slow, worker: worker) { stage in
      var options = RedisCluster.Options(key: prefix)
      options.replicas = 1
      try await RedisCluster.with(options) { cluster in try await body(stage, cluster) }
    }
  }

  @Test(
    "the worker goes on with the node that has come to serve, and nothing is lost",
    arguments: Change.allCases)
  func goesOn(after change: Change) async throws {
    try await Self.withCluster { stage, cluster in
      let (owner, replica) = try await cluster.settle()
      let others = cluster.nodes.filter { $0.port != owner.port }
      let process = try stage.startProcess(
        redis: RedisCluster.url([owner] + others),
        environment: ["PUSHPOOL_REDIS_PREFIX": Self.prefix])
      try await enqueueAll(on: cluster)
      try await stage.waitUntilAccepted(Self.jobs * Self.usersPerJob / 4)
      switch change {
      case .killed:
        await owner.kill9()
        try await cluster.waitForTakeover(by: replica)
      case .asked:
        try await replica.command("CLUSTER", "FAILOVER")
        try await cluster.waitForTakeover(by: replica)
      case .moved:
        let target = try #require(others.first { $0.port != replica.port })
        let move = try await SlotMove.begin(cluster, to: target)
        try await move.moveAll(100)
        try await move.end()
      }
      let client = try StageClient(url: cluster.url, prefix: Self.prefix)
      defer { client.stop() }
      for number in 0..<Self.jobs {
        let record = try await client.finished("job-\(number)")
        #expect(record.state == .done && record.isBalanced)
        #expect(record.counts.accepted == Self.usersPerJob)
      }
      let tokens = Set(stage.simulator.acceptedPushes.map(\.token))
      #expect(tokens.count == Self.jobs * Self.usersPerJob)
      #expect(try await client.command("XLEN", "\(Self.prefix):dead").integer == 0)

      // The old one comes back and follows the new one; nobody works with it.
      if change == .killed {
        try await owner.restart()
        _ = try await cluster.settle()
      }
      _ = try await client.enqueue(Devices.job("after", 0..<1))
      #expect(try await client.finished("after").counts.accepted == 1)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }

  /// Installs and enqueues, each job so that it survives the node that serves.
  private func enqueueAll(on cluster: RedisCluster) async throws {
    let client = try StageClient(url: cluster.url, prefix: Self.prefix)
    defer { client.stop() }
    try await client.install(try Devices.apns(0..<(Self.jobs * Self.usersPerJob)))
    for number in 0..<Self.jobs {
      let first = number * Self.usersPerJob
      _ = try await client.enqueue(
        Devices.job("job-\(number)", first..<(first + Self.usersPerJob)))
      #expect(try await client.command("WAIT", "1", "30000").integer == 1)
    }
  }
}
