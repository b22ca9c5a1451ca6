import Model
import Simulator
import Testing

@Suite struct DeliveryTests {
  static func apns(_ number: Int, user: String) throws -> Installation {
    let digits = String(number, radix: 16)
    let token = String(repeating: "0", count: 64 - digits.count) + digits
    return Installation(
      app: "shop", user: user, token: try DeviceToken(token, network: .apns))
  }

  static func fcm(_ number: Int, user: String) throws -> Installation {
    Installation(
      app: "shop", user: user, token: try DeviceToken("fcm-token-\(number)", network: .fcm))
  }

  @Test("a job reaches every device of its users on both networks, and its record adds up")
  func deliversToAllDevices() async throws {
    try await Stage.with { stage in
      try await stage.client.install([
        try Self.apns(1, user: "u1"), try Self.fcm(1, user: "u1"), try Self.apns(2, user: "u2"),
      ])
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(
          """
          {"id": "j1", "app": "shop", "audience": {"users": ["u1", "u2", "nobody"]},
           "notification": {"title": "Hello", "body": "World"}}
          """)
        let record = try await stage.client.finished("j1")
        #expect(record.counts.accepted == 3)
        #expect(record.counts.noInstallations == 1)
        #expect(record.total == 3)
        #expect(record.isBalanced)
      }
      #expect(stage.simulator.acceptedPushes.count == 3)
      #expect(stage.simulator.counters.violations == 0)
    }
  }
}
