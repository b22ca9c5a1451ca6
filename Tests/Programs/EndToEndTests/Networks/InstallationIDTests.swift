import LocalServices
import Model
import Simulator
import Testing

/// FCM reaches an installation by its registration token or by its Firebase installation ID.
@Suite struct InstallationIDTests {
  @Test func `pushes to installation IDs and to tokens arrive, and dead ones are uninstalled`()
    async throws
  {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "dead", network: .fcm, status: 404, reason: "UNREGISTERED")
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(
        [try Devices.fid(1, user: "u1"), try Devices.fcm(2, user: "u1")]
          + (10..<14).map { try Devices.fid($0, user: "u2", prefix: "dead") })
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          """
          {"id": "j", "app": "shop", "audience": {"users": ["u1", "u2"]},
           "notification": {"title": "Hello"}}
          """)
        let record = try await client.finished("j")
        #expect(record.counts.accepted == 2)
        #expect(record.counts.uninstalled == 4)
        #expect(record.isBalanced)
      }
      #expect(try await client.devices("u1").count == 2)
      #expect(try await client.devices("u2").isEmpty)
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  @Test func `FCM's complaint of an installation ID does not stop the job`() async throws {
    let script = SimulatorScript.stage {
      var rule = ScriptRule(
        tokenPrefix: "dead", network: .fcm, status: 400, reason: "INVALID_ARGUMENT")
      rule.fieldViolation = "message.fid"
      $0.rules = [rule]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      try await client.install(
        (0..<200).map { try Devices.fid($0, prefix: "dead") }
          + (200..<220).map { try Devices.fid($0) })
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Devices.job("j", 0..<220))
        let record = try await client.finished("j")
        #expect(record.counts.accepted == 20)
        #expect(record.counts.rejected == 200)
      }
      #expect(try await client.length("uninstalled") == 0)
    }
  }
}
