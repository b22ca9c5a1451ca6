import Model
import PushpoolConfiguration
import Simulator
import Testing

/// An app's network that nobody can connect to.
@Suite struct UnreachableTests {
  @Test(
    "an app whose network refuses connections takes no room from another, and goes on when it is back"
  )
  func sharesTheLane() async throws {
    try await Self.withClosedPort { stage, port in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      try await client.install(try (0..<300).map { try SwitchTests.other($0) })
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("stuck", 0..<2_000))
        _ = try await eventually("some are put aside") { try await client.nextDueMs() }
        _ = try await client.enqueue(
          Devices.job("free", 0..<300).replacing("\"shop\"", with: "\"other\""))
        let free = try await client.finished("free", app: "other")
        #expect(free.counts.accepted == 300)
        // Once that is known all pushes are put aside, and the lane has room in any case.
        #expect(try await client.alarms().isEmpty)
        let stuck = try #require(try await client.record("stuck"))
        #expect(stuck.counts.accepted == 0 && stuck.counts.retries == 0)

        let back = try Self.open(port, stage)
        defer { back.stop() }
        let record = try await client.finishedInHaste("stuck")
        #expect(record.counts.accepted == 2_000 && record.counts.retries == 0 && record.isBalanced)
        #expect(back.acceptedPushes.count == 2_000)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test("many jobs of an app whose network refuses connections keep no chunk of another waiting")
  func keepsNoPlaces() async throws {
    try await Self.withClosedPort { stage, port in
      let client = stage.client
      try await client.install(try Devices.apns(0..<100))
      try await client.install(try (0..<10).map { try SwitchTests.other($0) })
      for user in 0..<10 {
        _ = try await client.command("HSET", "names", "u\(user)", #"{"name": "Ann"}"#)
      }
      let stuck = (0..<100).map { "stuck-\($0)" }
      try await stage.withWorkers { _ in
        for (user, id) in stuck.enumerated() {
          _ = try await client.enqueue(Devices.job(id, user..<(user + 1)))
        }
        // Each is a chunk by then, and a lane has places for 32.
        _ = try await eventually("they are chunks") {
          try await client.claimedChunks() > 32 ? true : nil
        }
        // Values by a key make a chunk of a job at once.
        let values = #", "apns": {"payload": {"n": "{{name}}"}}, "variables_key": "names""#
        for round in 0..<5 {
          let id = "free-\(round)"
          _ = try await client.enqueue(
            Devices.job(id, 0..<10, values).replacing("\"shop\"", with: "\"other\""))
          let free = try await client.finished(id, app: "other", withinSeconds: 7)
          #expect(free.counts.accepted == 10)
        }

        let back = try Self.open(port, stage)
        defer { back.stop() }
        for id in stuck {
          let record = try await client.finishedInHaste(id)
          #expect(record.counts.accepted == 1 && record.counts.retries == 0 && record.isBalanced)
        }
        #expect(back.acceptedPushes.count == 100)
        #expect(stage.simulator.acceptedPushes.count == 50)
      }
    }
  }

  /// Two apps, of which `shop`'s network is at a port that refuses connections.
  private static func withClosedPort(
    _ body: @Sendable (PushStage, UInt16) async throws -> Void
  ) async throws {
    let port = try await closedPort()
    let endpoint = try ServiceURL("https://localhost:\(port)")
    try await PushStage.with(
      mostlyWaits: true,
      configure: {
        SwitchTests.addOther(&$0)
        $0.apps[0].apns[.production]?.access.endpoint = endpoint
      }
    ) { try await body($0, port) }
  }

  /// Has a network at the port that refused connections. - Returns: it, which is to be stopped.
  private static func open(_ port: UInt16, _ stage: PushStage) throws -> Simulator {
    var options = stage.simulator.options
    options.port = port
    let simulator = Simulator(options: options)
    try simulator.start()
    return simulator
  }

  /// A port that was free a moment ago and on which nobody listens.
  private static func closedPort() async throws -> UInt16 {
    try await PushStage.with { stage in
      var options = stage.simulator.options
      options.port = 0
      let simulator = Simulator(options: options)
      try simulator.start()
      defer { simulator.stop() }
      return simulator.port
    }
  }
}
