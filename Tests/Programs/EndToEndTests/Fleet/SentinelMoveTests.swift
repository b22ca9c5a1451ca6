import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// A fleet that goes from one Redis to Sentinel as docs/guides/operating.md has it, while it sends.
@Suite struct SentinelMoveTests {
  private static let jobsAtOnce = 6
  private static let usersPerJob = 60
  /// 400 pushes a second: each step happens in the middle of some.
  private static let worker = WorkerConfiguration.narrow(20, leaseSeconds: 2)

  @Test("workers move from one Redis to its sentinels one after the other, and nothing is lost")
  func moves() async throws {
    var options = RedisServer.Options()
    options.tcp = true
    options.configuration = ["repl-diskless-sync-delay 0"]
    try await PushStage.with(script: .slow, worker: Self.worker) { stage in
      try await RedisServer.with(options) { master in
        let port = try #require(master.port)
        let first = try stage.startProcess(redis: "redis://127.0.0.1:\(port)")
        let client = try StageClient(url: master.url)
        defer { client.stop() }
        try await client.install(try Devices.apns(0..<(3 * Self.jobsAtOnce * Self.usersPerJob)))
        try await Self.enqueue(0, through: client)
        try await stage.waitUntilAccepted(Self.usersPerJob)

        // A replica of the Redis that serves, and sentinels that watch both.
        var following = options
        following.configuration.append("replicaof 127.0.0.1 \(port)")
        try await RedisServer.with(following) { replica in
          let watching = SentinelServer.Options(masterPort: port)
          try await SentinelServer.with(3, watching) { sentinels in
            for sentinel in sentinels {
              _ = try await eventually("the sentinels know each other and the replica") {
                await sentinel.isWatching(replicas: 1, sentinels: 3) ? true : nil
              }
            }
            _ = try await eventually("the replica keeps up") {
              await master.hasReplica() ? true : nil
            }
            for server in [master, replica] {
              try await server.command("CONFIG", "SET", "min-replicas-to-write", "1")
              try await server.command("CONFIG", "SET", "min-replicas-max-lag", "10")
            }

            // Another worker with the new URL works beside the first, which then ends in order.
            let url = SentinelServer.url(sentinels)
            let second = try stage.startProcess(redis: url)
            _ = try await eventually("both workers beat") {
              try await client.command("ZCARD", "pushpool:workers").integer == 2 ? true : nil
            }
            try await Self.enqueue(1, through: client)
            try await stage.waitUntilAccepted((Self.jobsAtOnce + 1) * Self.usersPerJob)
            #expect(await first.terminate(graceMs: 30_000) == .code(0))

            // The failover by hand, under load.
            let producer = try StageClient(url: url)
            defer { producer.stop() }
            try await Self.enqueue(2, through: producer, awaitingReplica: true)
            try await stage.waitUntilAccepted((2 * Self.jobsAtOnce + 1) * Self.usersPerJob)
            await sentinels[0].failOver()
            _ = try await eventually("the replica is the master") {
              await replica.role() == "master" ? true : nil
            }
            let asking = try StageClient(url: url)
            defer { asking.stop() }
            for number in 0..<(3 * Self.jobsAtOnce) {
              let record = try await asking.finished("job-\(number)")
              #expect(record.state == .done && record.isBalanced)
              #expect(record.counts.accepted == Self.usersPerJob)
            }
            let tokens = Set(stage.simulator.acceptedPushes.map(\.token))
            #expect(tokens.count == 3 * Self.jobsAtOnce * Self.usersPerJob)
            #expect(try await asking.command("XLEN", "pushpool:dead").integer == 0)
            #expect(await second.terminate(graceMs: 30_000) == .code(0))
          }
        }
      }
    }
  }

  /// Enqueues the jobs of one step, each of them so that it survives the master where that is asked for.
  private static func enqueue(
    _ step: Int, through client: StageClient, awaitingReplica: Bool = false
  ) async throws {
    for number in step * jobsAtOnce..<(step + 1) * jobsAtOnce {
      let user = number * usersPerJob
      _ = try await client.enqueue(Devices.job("job-\(number)", user..<(user + usersPerJob)))
      guard awaitingReplica else { continue }
      #expect(try await client.command("WAIT", "1", "30000").integer == 1)
    }
  }
}
