import Glibc
import LocalServices
import Model
import Redis
import Simulator
import Testing

/// Jobs that reach people by their own clocks. Their time zones are made for the test, so that it is nine o'clock somewhere
/// every second.
@Suite struct LocalTimeTests {
  /// A zone of one offset, as a file of tzdata holds it.
  private static func file(offset: Int) -> [UInt8] {
    func word(_ number: Int) -> [UInt8] {
      let bits = UInt32(bitPattern: Int32(truncatingIfNeeded: number))
      return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
    }
    let header =
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
      + [0, 0, 0, 0, 1, 4].flatMap(word)
    let data = word(offset) + [0, 0] + Array("AAA\0".utf8)
    return header + data + header + data + Array("\n\n".utf8)
  }

  private struct Zone {
    let name: String
    /// When clocks show 09:00 there.
    let atMs: Int64
  }

  /// Makes zones where it will be nine o'clock one after the other, and UTC.
  /// - Returns: them, and the folder that holds them.
  private static func makeZones(
    _ count: Int, from firstMs: Int64, everyMs: Int64, in folder: TemporaryFolder
  ) throws -> (zones: [Zone], folder: String) {
    let path = folder.file("zones")
    try #require(mkdir(path, 0o755) == 0)
    var zones: [Zone] = []
    func write(_ name: String, offset: Int) throws {
      let file = try #require(fopen("\(path)/\(name)", "w"))
      let bytes = Self.file(offset: offset)
      #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
      fclose(file)
    }
    try write("UTC", offset: 0)
    let nine = 9 * 3_600
    for number in 0..<count {
      let atMs = firstMs / 1_000 * 1_000 + Int64(number) * everyMs
      // The offset by which it is nine o'clock then.
      var offset = nine - Int(atMs / 1_000 % 86_400)
      if offset < -12 * 3_600 { offset += 86_400 }
      zones.append(Zone(name: "Zone\(number)", atMs: atMs))
      try write("Zone\(number)", offset: offset)
    }
    return (zones, path)
  }

  @Test("each installation receives once, at its own time, whoever dies meanwhile")
  func sendsByZone() async throws {
    try await PushStage.with(mostlyWaits: true) { stage in
      let client = stage.client
      let startMs = try await client.serverMs() + 9_000
      let (zones, folder) = try Self.makeZones(
        5, from: startMs, everyMs: 2_000, in: stage.folder)
      // Each user has a device in one zone and one in the next.
      var devices: [Installation] = []
      var due: [String: Int64] = [:]
      for number in 0..<60 {
        for (place, zone) in [zones[number % 5], zones[(number + 1) % 5]].enumerated() {
          var device = try Devices.apns(number * 2 + place, user: "u\(number)")
          device.timeZone = zone.name
          devices.append(device)
          due[device.token.text] = zone.atMs
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
      let environment = ["TZDIR": folder]
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
        // UTC's round, of nobody, comes within a day.
        let record = try await eventually("\(id) has reached all") {
          try await client.record(id).flatMap { $0.counts.accepted >= 120 ? $0 : nil }
        }
        #expect(record.isBalanced && record.counts.accepted == 120 && record.state == .running)
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
      var devices = try Devices.apns(0..<4)
      devices[1].timeZone = "Pacific/Kiritimati"
      devices[2].timeZone = "Mars/Base"
      // It gets no alerts, so its user has no device for them in any zone.
      (devices[3].kind, devices[3].timeZone) = (.voip, "Asia/Tokyo")
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
          try await client.record("j1").flatMap { $0.counts.accepted == 1 ? $0 : nil }
        }
        #expect(record.counts.skipped == 2 && record.isBalanced)
        #expect(record.counts.noInstallations == 1)
        #expect(try await client.cancel("j1") == .cancelled)
      }
    }
  }
}
