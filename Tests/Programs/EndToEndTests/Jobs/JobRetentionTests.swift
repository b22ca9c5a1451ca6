import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Testing

/// What workers leave of a job that has ended.
@Suite struct JobRetentionTests {
  @Test("a finished job keeps at most 300 bytes, for as long as its worker's configuration says")
  func keepsLittle() async throws {
    try await PushStage.with(configure: { $0.jobs.retentionHours = 2 }) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1))
      try await stage.withWorkers { _ in
        for (id, more) in [("order-4711-shipped", ""), ("traced", #","trace":true"#)] {
          _ = try await client.enqueue(Devices.job(id, 0..<1, more))
          let record = try await client.finished(id)
          #expect(record.counts.accepted == 1 && record.isBalanced)
        }
      }
      var bytes = 0
      for key in [
        "pushpool:job:shop:order-4711-shipped", "pushpool:content:shop:order-4711-shipped",
      ] {
        bytes += try await client.command("MEMORY", "USAGE", key).integer ?? 0
      }
      #expect((1...300).contains(bytes))
      // The first was sent from its entry, and lives up to a minute longer.
      for (key, atMost) in [
        ("pushpool:job:shop:order-4711-shipped", 7_260), ("pushpool:content:shop:traced", 172_800),
      ] {
        let left = try await client.command("TTL", key).integer ?? 0
        #expect((atMost - 260...atMost).contains(left), "\(key)")
      }
      // Nobody can enqueue a job without an id again: an hour is for whoever waits for it.
      let unnamed = Devices.job("x", 0..<1).replacing(#""id": "x", "#, with: "")
      let entry = try await client.enqueue(unnamed)
      try await stage.withWorkers { _ in
        let record = try await client.finished("n\(entry)")
        #expect(record.counts.accepted == 1)
      }
      let left = try await client.command("TTL", "pushpool:job:shop:n\(entry)").integer ?? 0
      #expect((3_400...3_660).contains(left))
      let shown = try await stage.pushpool(
        "job", "order-4711-shipped", "--app", "shop", "--json")
      let object = try #require(try JSONParser().parse(shown.output).objectValue)
      #expect(object["priority"] == .string("normal") && object["failed"] == .integer(0))
      let traced = try await stage.pushpool(
        "trace", "--app", "shop", "--job", "order-4711-shipped", "--user", "u0")
      #expect(traced.exit == .code(0))
    }
  }
}
