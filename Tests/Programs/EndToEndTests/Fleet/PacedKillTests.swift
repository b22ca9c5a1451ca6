import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

/// Jobs with a pace, whose few chunks a worker may have all when it dies.
@Suite struct PacedKillTests {
  /// Far longer than others take to go on, on a busy machine too.
  private static let worker = WorkerConfiguration(lanes: 1, drainSeconds: 5, leaseSeconds: 45)
  private static let stream = "pushpool:chunks:normal"

  /// How many chunks each consumer has in hand.
  private static func owners(_ client: StageClient) async throws -> [String: Int] {
    let summary = try await client.command("XPENDING", stream, "workers").array ?? []
    guard summary.count == 4 else { return [:] }
    let pairs = (summary[3].array ?? []).compactMap { item -> (String, Int)? in
      guard let parts = item.array, parts.count == 2, let name = parts[0].string else { return nil }
      return (name, parts[1].integer ?? parts[1].string.flatMap { Int($0) } ?? 0)
    }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  @Test(
    "a paced job goes on long before the lease of the worker is over that died with all its chunks")
  func goesOn() async throws {
    try await PushStage.with(worker: Self.worker, mostlyWaits: true) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_500))
      let victim = try stage.startProcess()
      // Its first chunk takes most of a minute: nobody else gets one before.
      _ = try await client.enqueue(
        Devices.job("slow", 0..<1_500, #", "pushes_per_second": 5"#))
      _ = try await eventually("all chunks that it may have are in the hands of one") {
        try await client.claimedChunks() == 2 ? true : nil
      }
      let other = try stage.startProcess()
      try await stage.waitUntilBeating(2)
      try await stage.waitUntilAccepted(10)
      let owners = try await Self.owners(client)
      let owner = try #require(owners.keys.first)
      try #require(owners == [owner: 2], "the other worker has some already: \(owners)")
      try #require(owner.contains("-\(victim.pid)-"))
      #expect(await victim.kill() == .signal(SIGKILL))

      let before = stage.simulator.counters.accepted
      // It is asked in this order: what was accepted by then came while the lease still was the dead one's.
      let wentOn = try await eventually(withinSeconds: 180, "pushes go on, or the lease is over") {
        let accepted = stage.simulator.counters.accepted
        guard try await Self.owners(client)[owner] == 2 else { return false }
        return accepted >= before + 15 ? true : nil
      }
      #expect(wentOn, "it stood still until the lease was over")

      let shown = try await stage.pushpool("job", "slow", "pace", "off", "--app", "shop")
      #expect(shown.exit == .code(0), "\(shown.error)")
      let record = try await client.finished("slow", withinSeconds: 180)
      #expect(record.counts.accepted == 1_500 && record.isBalanced)
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)).count == 1_500, "lost pushes")
      await other.terminate(graceMs: 60_000)
    }
  }
}
