import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// Three sentinels make the replica of a master the master under load.
@Suite struct SentinelFailoverTests {
  enum Failover: CaseIterable {
    /// The master dies, and comes back later with what it thinks that it is.
    case killed
    /// An operator asks for it, and the master lives on as a replica.
    case asked
  }

  private static let jobs = 12
  private static let usersPerJob = 60
  /// 400 pushes a second: it happens in the middle.
  private static let worker = WorkerConfiguration.narrow(20, leaseSeconds: 2)

  /// A master, its replica, and the sentinels that know of both.
  private struct Servers {
    let master: RedisServer
    let replica: RedisServer
    let sentinels: [SentinelServer]

    var url: String { SentinelServer.url(sentinels) }
  }

  private static func withServers(
    _ body: (PushStage, Servers) async throws -> Void
  ) async throws {
    var options = RedisServer.Options()
    options.tcp = true
    options.configuration = ["repl-diskless-sync-delay 0"]
    try await PushStage.with(script: .slow, worker: worker) { stage in
      try await RedisServer.with(options) { master in
        let port = try #require(master.port)
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
            try await body(
              stage, Servers(master: master, replica: replica, sentinels: sentinels))
          }
        }
      }
    }
  }

  @Test(
    "the worker goes on with the server that the sentinels promote, and nothing is lost",
    arguments: Failover.allCases)
  func failsOver(_ failover: Failover) async throws {
    try await Self.withServers { stage, servers in
      let process = try stage.startProcess(redis: servers.url)
      try await enqueueAll(on: servers.master)
      try await stage.waitUntilAccepted(Self.jobs * Self.usersPerJob / 4)
      switch failover {
      case .killed: await servers.master.kill9()
      case .asked: await servers.sentinels[0].failOver()
      }
      let client = try StageClient(url: servers.replica.url)
      defer { client.stop() }
      try await Self.waitUntil(client, has: "master")
      for number in 0..<Self.jobs {
        let record = try await client.finished("job-\(number)")
        #expect(record.state == .done && record.isBalanced)
        #expect(record.counts.accepted == Self.usersPerJob)
      }
      let tokens = Set(stage.simulator.acceptedPushes.map(\.token))
      #expect(tokens.count == Self.jobs * Self.usersPerJob)
      #expect(try await client.command("XLEN", "pushpool:dead").integer == 0)

      // The old master comes back and is made a replica; nobody goes there.
      if failover == .killed { try await servers.master.restart() }
      let old = try StageClient(url: servers.master.url)
      defer { old.stop() }
      try await Self.waitUntil(old, has: "slave")
      let asking = try StageClient(url: servers.url)
      defer { asking.stop() }
      _ = try await asking.enqueue(Devices.job("after", 0..<1))
      #expect(try await client.finished("after").counts.accepted == 1)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }

  /// Installs and enqueues on the master, each job so that it survives the master.
  private func enqueueAll(on master: RedisServer) async throws {
    let client = try StageClient(url: master.url)
    defer { client.stop() }
    try await client.install(try Devices.apns(0..<(Self.jobs * Self.usersPerJob)))
    for number in 0..<Self.jobs {
      let first = number * Self.usersPerJob
      _ = try await client.enqueue(
        Devices.job("job-\(number)", first..<(first + Self.usersPerJob)))
      #expect(try await client.command("WAIT", "1", "30000").integer == 1)
    }
  }

  /// Connections of clients are cut as a server changes its role.
  private static func waitUntil(_ client: StageClient, has role: String) async throws {
    _ = try await eventually("a server has the role \(role)") {
      let told = try? await client.command("ROLE").array?.first?.string
      return told == role ? true : nil
    }
  }
}
