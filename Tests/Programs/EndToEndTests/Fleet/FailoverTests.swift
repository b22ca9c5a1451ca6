import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing
import Worker

/// The master of two Redis servers dies for good.
@Suite struct FailoverTests {
  private static let jobs = 12
  private static let usersPerJob = 60
  /// 400 pushes a second: the master dies in the middle.
  private static let worker = WorkerConfiguration.narrow(20, leaseSeconds: 2)

  @Test("what a replica has acknowledged by WAIT is delivered when it takes over")
  func survivesFailover() async throws {
    try await PushStage.with(script: .slow, worker: Self.worker) { stage in
      let pushes = Self.jobs * Self.usersPerJob
      try await stage.client.install(try Devices.apns(0..<pushes))
      let port = try FreePort.find()
      _ = try await stage.client.command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
      _ = try await stage.client.command("CONFIG", "SET", "port", "\(port)")
      var options = RedisServer.Options()
      options.configuration = ["replicaof 127.0.0.1 \(port)"]
      try await RedisServer.with(options) { replica in
        try await enqueueAll(stage, replica)
        let client = try StageClient(url: replica.url)
        defer { client.stop() }
        _ = try await client.command("REPLICAOF", "NO", "ONE")
        var known = 0
        for number in 0..<Self.jobs {
          known += try await client.record("job-\(number)")?.counts.accepted ?? 0
        }
        let connections = Set(stage.simulator.acceptedPushes.map(\.connection))
        var moved = stage.configuration
        moved.redis.url = try RedisURL(replica.url)
        try await stage.withWorkers(of: moved) { _ in
          for number in 0..<Self.jobs {
            let record = try await client.finished("job-\(number)")
            #expect(record.state == .done && record.isBalanced)
            #expect(record.counts.accepted == Self.usersPerJob)
          }
        }
        #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == pushes)
        // In flight, and what of the chunks in hand the replica had not been told: no more than that.
        let before = stage.simulator.acceptedPushes.count { connections.contains($0.connection) }
        #expect(stage.duplicates <= before - known)
        #expect(try await client.command("XLEN", "pushpool:dead").integer == 0)
      }
    }
  }

  /// Enqueues on the master as producers do that cannot lose a job, and ends it amid the work.
  private func enqueueAll(_ stage: PushStage, _ replica: RedisServer) async throws {
    let client = stage.client
    _ = try await eventually("the replica follows") {
      try await client.command("WAIT", "1", "100").integer == 1 ? true : nil
    }
    // Nobody vouches for what a replica that hangs has not taken.
    await replica.freeze()
    _ = try await client.enqueue(job(0))
    #expect(try await client.command("WAIT", "1", "50").integer == 0)
    await replica.thaw()
    let process = try stage.startProcess()
    for number in 0..<Self.jobs {
      // The first one again: a job of this id is taken once.
      _ = try await client.enqueue(job(number))
      #expect(try await client.command("WAIT", "1", "5000").integer == 1)
    }
    try await stage.waitUntilAccepted(Self.jobs * Self.usersPerJob / 4)
    await stage.redis.kill9()
    await process.kill()
  }

  private func job(_ number: Int) -> String {
    let first = number * Self.usersPerJob
    return Devices.job("job-\(number)", first..<(first + Self.usersPerJob))
  }
}
