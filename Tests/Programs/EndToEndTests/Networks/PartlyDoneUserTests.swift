import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Testing

/// Users with several devices, one of which does not answer (row 17 of the fault matrix).
@Suite struct PartlyDoneUserTests {
  private static let users = 500
  private static let devices = 10
  /// Room for every silent device at a time.
  private static let worker = WorkerConfiguration(
    lanes: 1, connectionsPerLane: 4, streamsPerConnection: 250, drainSeconds: 5, leaseSeconds: 2,
    requestTimeoutSeconds: 60)

  private static func installations() throws -> [Installation] {
    try (0..<users).flatMap { user in
      try (0..<devices).map { device in
        try Devices.apns(
          user * devices + device, user: "u\(user)", prefix: device == 4 ? "51" : "a0")
      }
    }
  }

  @Test("one silent device of a user keeps no other device's result from being settled")
  func settlesDeviceByDevice() async throws {
    // Until workers are changed: later each answers.
    let script = SimulatorScript.stage {
      $0.rules = [ScriptRule(tokenPrefix: "51", action: .stall, times: Self.users)]
    }
    try await PushStage.with(script: script, worker: Self.worker) { stage in
      try await stage.client.install(try Self.installations())
      let answered = Self.users * (Self.devices - 1)
      let first = try stage.startProcess()
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<Self.users))
      try await stage.waitUntilAccepted(answered)
      _ = try await eventually(
        withinSeconds: Double(PushStage.promptMs) / 1_000, "all that was answered is settled"
      ) {
        let record = try #require(try await stage.client.record("sale"))
        #expect(record.isBalanced)
        return record.counts.accepted == answered ? true : nil
      }
      let settled = try #require(try await stage.client.record("sale"))
      #expect(settled.total == Self.users * Self.devices)
      #expect(settled.pending == Self.users)
      #expect(await first.kill() == .signal(SIGKILL))
      let second = try stage.startProcess()
      stage.expectDelivered(
        try await stage.client.finished("sale"), Self.users * Self.devices)
      #expect(await second.terminate() == .code(0))
    }
  }
}
