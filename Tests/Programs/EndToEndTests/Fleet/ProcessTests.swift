import Foundation
import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

/// Workers as processes of their own, which can crash.
@Suite struct ProcessTests {
  private static let worker = WorkerConfiguration.narrow(50, leaseSeconds: 2)

  @Test("two worker processes share a campaign, and SIGTERM ends them in order (gorush#850)")
  func sharesCampaign() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 30 }
    try await PushStage.with(script: script, worker: .narrow(50)) { stage in
      try await stage.client.install(try Devices.apns(0..<3_000))
      let processes = [try stage.startProcess(), try stage.startProcess()]
      try await stage.waitUntilBeating(2)
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<3_000))
      let record = try await stage.client.finished("sale")
      stage.expectDelivered(record, 3_000)
      let byConnection = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.connection)
      #expect(byConnection.count == 2)
      #expect(byConnection.values.allSatisfy { $0.count >= 300 })
      for process in processes {
        process.signal(SIGTERM)
        #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
      }
    }
  }

  @Test("what was answered is told to Redis, though Redis is away when the drain time is over")
  func tellsWhatWasAnswered() async throws {
    let worker = WorkerConfiguration(lanes: 1, drainSeconds: 2, leaseSeconds: 30)
    let script = SimulatorScript.stage { $0.delayMs = 200 }
    try await PushStage.with(script: script, worker: worker) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      let process = try stage.startProcess()
      _ = try await client.enqueue(Devices.job("sale", 0..<100))
      _ = try await eventually("it is in the worker's hands") {
        try await client.claimedChunks() == 1 ? true : nil
      }
      // The test's own connection has said who it is.
      _ = try await client.command("CONFIG", "SET", "requirepass", "another")
      _ = try await client.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
      process.signal(SIGTERM)
      _ = try await eventually("all is answered") {
        stage.simulator.counters.accepted == 100 ? true : nil
      }
      #expect(await process.waitForExit(timeoutMs: 3_000) == nil)
      _ = try await client.command("CONFIG", "SET", "requirepass", "")
      #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
      let record = try #require(try await client.record("sale"))
      #expect(record.state == .done && record.counts.accepted == 100)
    }
  }

  @Test("a worker that is told to end while it starts ends, and does not crash")
  func endsWhileItStarts() async throws {
    var worker = Self.worker
    worker.lanes = 8
    try await PushStage.with(worker: worker) { stage in
      for number in 0..<24 {
        let process = try stage.startProcess()
        // From before it has read its configuration until it works.
        #expect(await process.waitForExit(timeoutMs: UInt64(number) * 10) == nil)
        process.signal(SIGTERM)
        let exit = await process.waitForExit(timeoutMs: 60_000)
        // Before anything handles the signal the kernel ends it.
        #expect(exit == .code(0) || exit == .code(143) || exit == .signal(SIGTERM), "\(number)")
      }
    }
  }

  @Test("an entry that is no job is named in the log, without what it holds")
  func logsMalformedEntries() async throws {
    try await PushStage.with(worker: Self.worker) { stage in
      let entry = try await stage.client.command(
        "XADD", "pushpool:jobs:normal", "*", "jbo", "confidential")
      let process = try stage.startProcess()
      let line = try await eventually("the log names the entry") {
        let log = try String(contentsOfFile: stage.folder.file("worker.log"), encoding: .utf8)
        #expect(!log.contains("confidential"))
        return log.split(separator: "\n").first { $0.contains("malformed_entry") }
      }
      #expect(line.contains(try #require(entry.string)))
      await process.terminate()
    }
  }

  @Test("kill -9 of workers in mid-campaign loses nothing (gorush#330, gorush#441, pushy#93)")
  func survivesKills() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 20 }
    try await PushStage.with(script: script, worker: Self.worker) { stage in
      try await stage.client.install(try Devices.apns(0..<4_000))
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<4_000))
      let kills = 3
      for kill in 1...kills {
        let process = try stage.startProcess()
        try await stage.waitUntilAccepted(kill * 700)
        #expect(await process.kill() == .signal(SIGKILL))
      }
      let last = try stage.startProcess()
      let record = try await stage.client.finished("sale")
      #expect(record.counts.accepted == 4_000)
      #expect(record.isBalanced)
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 4_000, "lost pushes")
      // In flight, and results of the chunks in hand that were not settled yet.
      #expect(stage.duplicates <= kills * (50 + 4 * 100))
      #expect(try await stage.client.claimedChunks() == 0)
      let total = try await stage.client.command("HGET", "pushpool:totals", "shop|apns|accepted")
      #expect(total.integer == 4_000, "what is counted in all is what the record says")
      await last.terminate()
    }
  }

  @Test("a worker that was frozen longer than its lease counts nothing when it wakes up")
  func ignoresZombie() async throws {
    try await PushStage.with(script: .slow, worker: Self.worker) { stage in
      try await stage.client.install(try Devices.apns(0..<5_000))
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<5_000))
      let frozen = try stage.startProcess()
      try await stage.waitUntilAccepted(300)
      frozen.signal(SIGSTOP)
      let other = try stage.startProcess()
      // Its lease is 2 s, and every half second it is looked whether one has ended.
      let frozenAtMs = try await stage.client.serverMs()
      _ = try await eventually("the lease ends") {
        try await stage.client.serverMs() > frozenAtMs + 3_500 ? true : nil
      }
      frozen.signal(SIGCONT)
      let record = try await stage.client.finished("sale")
      #expect(record.counts.accepted == 5_000)
      #expect(record.total == 5_000)
      #expect(record.isBalanced)
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 5_000, "lost pushes")
      // What it had in flight or not settled yet is sent by its successor, too.
      #expect(stage.duplicates <= 50 + 4 * 100)
      for process in [frozen, other] { #expect(await process.terminate() == .code(0)) }
    }
  }
}
