import LocalServices
import Model
import Redis
import Simulator
import Testing

/// Jobs that reach people by their own clocks. Their time zones are made up, so that it is nine o'clock somewhere every two
/// seconds; clocks of the fourth one skip nine, and those of the last one show it twice.
@Suite struct LocalTimeTests {
  @Test("each installation receives once, at its own time, whoever dies meanwhile")
  func sendsByZone() async throws {
    try await PushStage.with(mostlyWaits: true) { stage in
      let client = stage.client
      let startMs = try await client.serverMs() + 9_000
      let folder = try TimeZoneFolder(path: stage.folder.file("zones"))
      let zones = try folder.make(5, firstMs: startMs, everyMs: 2_000)
      // Each user has a device in one zone and one in the next.
      var devices: [Installation] = []
      var due: [String: Int64] = [:]
      for number in 0..<60 {
        for (place, zone) in [zones[number % 5], zones[(number + 1) % 5]].enumerated() {
          var device = try Devices.apns(number * 2 + place, user: "u\(number)")
          device.device.timeZone = zone.name
          devices.append(device)
          due[device.token.text] = zone.nineMs
        }
      }
      try await client.install(devices)
      try await client.subscribe((0..<60).map { "u\($0)" }, to: "crowd")
      let names = (0..<60).map { "\"u\($0)\"" }.joined(separator: ",")
      let tokens = devices.map { #"{"network":"apns","token":"\#($0.token.text)"}"# }
        .joined(separator: ",")
      let audiences = [
        ("named", #"{"users": [\#(names)]}"#), ("topic", #"{"topic": "crowd"}"#),
        ("all", #"{"all": true}"#), ("tokens", #"{"installations": [\#(tokens)]}"#),
      ]
      let environment = ["TZDIR": folder.path]
      var workers = [
        try stage.startProcess(environment: environment),
        try stage.startProcess(environment: environment),
      ]
      for (id, audience) in audiences {
        _ = try await client.enqueue(
          """
          {"id": "\(id)", "app": "shop", "audience": \(audience), "deliver_local": "09:00",
           "notification": {"title": "Good morning"}, "ttl_seconds": 60}
          """)
        _ = try await eventually("\(id) is taken in") {
          try await client.record(id)?.isAdmitted == true ? true : nil
        }
      }
      _ = try await eventually("the first zone is sent to") {
        stage.simulator.acceptedPushes.count > 24 ? true : nil
      }
      await workers.removeFirst().kill()
      workers.append(try stage.startProcess(environment: environment))
      _ = try await client.command("SAVE")
      await stage.redis.kill9()
      try await stage.redis.restart()
      for (id, _) in audiences {
        let record = try await client.finished(id)
        #expect(record.isBalanced && record.counts.accepted == 120 && record.total == 120)
      }
      for push in stage.simulator.acceptedPushes {
        let dueMs = try #require(due[push.token])
        #expect(push.acceptedAtMs >= dueMs, "\(push.acceptedAtMs - dueMs) ms early")
      }
      for worker in workers { await worker.kill() }
    }
  }

  @Test("a device without a zone has the app's, and one whose time has passed gets nothing")
  func withoutZone() async throws {
    try await PushStage.with(mostlyWaits: true) { stage in
      let client = stage.client
      var devices = try Devices.apns(0..<5)
      devices[1].device.timeZone = "Pacific/Kiritimati"
      devices[2].device.timeZone = "Mars/Base"
      devices[4].device.timeZone = "UTC+14"
      // It gets no alerts, so its user has no device for them in any zone.
      (devices[3].kind, devices[3].device.timeZone) = (.voip, "Asia/Tokyo")
      try await client.install(devices)
      try await stage.withWorkers { _ in
        // It has begun at +14, and has not at -12.
        let days = (try await client.serverMs() + 14 * 3_600_000) / 86_400_000
        let date = CivilDate(daysSinceEpoch: Int(days)).text
        _ = try await client.enqueue(
          """
          {"id": "j1", "app": "shop", "audience": {"all": true}, "notification": {"title": "Hi"},
           "deliver_local": {"date": "\(date)", "time": "00:00", "late": "send", "without_zone": "skip"}}
          """)
        let record = try await eventually("the zones that are late are sent to") {
          try await client.record("j1").flatMap { $0.counts.accepted == 2 ? $0 : nil }
        }
        #expect(record.counts.skipped == 2 && record.isBalanced)
        #expect(record.counts.noInstallations == 1)
        #expect(try await client.cancel("j1") == .cancelled)
      }
    }
  }
}
