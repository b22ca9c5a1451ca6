import Glibc
import LocalServices
import Model
import Simulator
import TestSupport
import Testing
import Worker

/// A worker whose Redis answers wrongly now and then stays alive, and works on when the answers are right again.
@Suite struct HostileRedisTests {
  private static let jobs = 30
  private static let usersPerJob = 10

  @Test("wrong answers of Redis end no worker", arguments: [UInt64(1), 2, 3, 4])
  func staysAlive(seed: UInt64) async throws {
    // A provider token that Redis has altered may pass here, since the simulator checks no signature: to APNs it is none.
    let script = SimulatorScript.stage { $0.providerTokenIntervalSeconds = 0 }
    try await PushStage.with(script: script) { stage in
      let all = Self.jobs * Self.usersPerJob
      try await stage.client.install(try Devices.apns(0..<all))
      try await TestLane.run { lane in
        let proxy = try AlteringRedis(
          loop: lane.loop, server: stage.redis.endpoint, seed: seed, perMille: 100)
        let process = try stage.startProcess(redis: proxy.url)
        // What the worker makes of it is no matter, as long as it lives to read so many.
        var number = 0
        _ = try await eventually("the worker read wrong answers") {
          if let exit = process.exit {
            Issue.record("\(exit) after \(proxy.altered) wrong answers: \(Self.log(stage))")
            return true
          }
          let first = number % Self.jobs * Self.usersPerJob
          _ = try await stage.client.enqueue(
            Devices.job("hostile-\(number)", first..<(first + Self.usersPerJob)))
          number += 1
          return proxy.altered >= 150 ? true : nil
        }
        guard process.exit == nil else { return proxy.close() }
        proxy.perMille = 0
        _ = try await stage.client.enqueue(Devices.job("after", 0..<all))
        do {
          let record = try await stage.client.finished("after", withinSeconds: 180)
          #expect(record.isBalanced && record.counts.accepted > 0, "\(record)")
        } catch {
          Issue.record("\(error): \(try await Self.standing(stage)) \(Self.log(stage))")
        }
        #expect(
          await process.terminate(graceMs: 60_000) == .code(0), "\(Self.log(stage))")
        proxy.close()
      }
    }
  }

  /// Where the work is that does not go on.
  private static func standing(_ stage: PushStage) async throws -> String {
    let commands = [
      ["HGETALL", "pushpool:job:shop:after"],
      ["ZRANGE", "pushpool:delayed", "0", "-1", "WITHSCORES"],
      ["XINFO", "GROUPS", "pushpool:jobs:normal"], ["XINFO", "GROUPS", "pushpool:chunks:normal"],
      ["XPENDING", "pushpool:jobs:normal", "workers", "-", "+", "5"],
      ["XPENDING", "pushpool:chunks:normal", "workers", "-", "+", "5"],
      ["HGETALL", "pushpool:alarms"], ["KEYS", "pushpool:ready*"], ["KEYS", "pushpool:*rout*"],
      ["TIME"],
    ]
    var text = ""
    for command in commands {
      text += "\(command): \(try await stage.client.command(words: command))\n"
    }
    return text
  }

  private static func log(_ stage: PushStage) -> String {
    String((TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 22) ?? "").suffix(3_000))
  }
}
