import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Simulator

/// A job's filter, held against real installations by real workers.
@Suite struct FilterTests {
  private static func job(_ id: String, _ audience: String, _ more: String) -> String {
    #"{"id":"\#(id)","app":"shop","audience":\#(audience),"notification":{"title":"T"},\#(more)}"#
  }

  /// Four devices of one user; all that they say of themselves differs.
  private static func devices() throws -> [Installation] {
    var phone = try Devices.apns(0, user: "u")
    phone.device.type = "phone"
    phone.device.language = "de-AT"
    phone.device.timeZone = "Europe/Vienna"
    phone.device.appVersion = "2.10.1-rc1"
    phone.device.osVersion = "17.4"
    phone.device.sdkVersion = "1.0"
    phone.channels = ["news", "sport"]
    phone.custom = ["plan": "pro"]
    var tablet = try Devices.fcm(1, user: "u")
    tablet.device.type = "tablet"
    tablet.device.language = "en"
    tablet.device.appVersion = "2.9"
    tablet.channels = ["sport"]
    tablet.custom = ["plan": "free", "beta": "1"]
    var bare = try Devices.apns(2, user: "u")
    bare.environment = .development
    return [phone, tablet, bare, try Devices.jpush(3, user: "u")]
  }

  private static let filters: [(filter: String, numbers: Set<Int>)] = [
    (#"{"network":["apns","jpush"]}"#, [0, 2, 3]), (#"{"not":{"network":["fcm"]}}"#, [0, 2, 3]),
    (#"{"environment":["development"]}"#, [2]), (#"{"device_type":["phone","tablet"]}"#, [0, 1]),
    (#"{"language":["de"]}"#, [0]), (#"{"not":{"language":["de","en"]}}"#, [2, 3]),
    (#"{"time_zone":["Europe/Vienna"]}"#, [0]), (#"{"app_version":{">=":"2.9"}}"#, [0, 1]),
    (#"{"app_version":{">":"2.9"}}"#, [0]), (#"{"not":{"app_version":{"<":"2.10"}}}"#, [0, 2, 3]),
    (#"{"os_version":{"<":"18"}}"#, [0]), (#"{"sdk_version":{"=":"1"}}"#, [0]),
    (#"{"channel":["sport"]}"#, [0, 1]), (#"{"channel":["sport"],"network":["fcm"]}"#, [1]),
    (#"{"custom":{"plan":["pro","free"]},"not":{"custom":{"beta":["1"]}}}"#, [0]),
    (#"{"custom":{"plan":["none"]}}"#, []),
  ]

  @Test("each field of a filter chooses, beside every audience, and the sums are exact")
  func everyField() async throws {
    try await PushStage.with(
      endpoints: .init(hasJPush: true, hasDevelopment: true)
    ) { stage in
      let client = stage.client
      let devices = try Self.devices()
      try await client.install(devices)
      _ = try await client.command("SADD", "crowd", "u")
      let tokens = devices.map {
        #"{"network":"\#($0.token.network.rawValue)","token":"\#($0.token.text)"}"#
      }
      let audiences = [
        #"{"users":["u"]}"#, #"{"users_key":"crowd"}"#,
        #"{"installations":[\#(tokens.joined(separator: ","))]}"#,
      ]
      try await stage.withWorkers { _ in
        for (number, (filter, wanted)) in Self.filters.enumerated() {
          let id = "sale-\(number)"
          _ = try await client.enqueue(
            Self.job(id, audiences[number % audiences.count], #""filter":\#(filter)"#))
          let record = try await client.finished(id)
          #expect(record.counts.accepted == wanted.count, "\(filter)")
          #expect(record.counts.skipped == 4 - wanted.count, "\(filter)")
          #expect(record.isBalanced && record.total == 4, "\(filter)")
          #expect(record.counts.noInstallations == 0, "\(filter)")
        }
        _ = try await client.enqueue(
          Self.job("sale-0", audiences[0], #""filter":{"network":["apns"]}"#))
        _ = try await eventually("another filter under the same id is refused") {
          try await client.entries("dead").contains { $0["reason"] == "id_conflict" } ? true : nil
        }
      }
      let trace = try await stage.pushpool(
        "trace", "--job", "sale-4", "--app", "shop", "--user", "u")
      #expect(trace.output.contains(TraceCause.filtered.explanation), "\(trace.output)")
    }
  }

  @Test("languages, values and badges of those who stay are their own, and the others' badges rest")
  func besideTexts() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      var devices = try Devices.apns(0..<120)
      for number in devices.indices {
        devices[number].custom["plan"] = number % 3 == 0 ? "pro" : "free"
        devices[number].device.language = number % 2 == 0 ? "ja" : "en"
      }
      try await client.install(devices)
      let names = devices.map { "\"\($0.user)\"" }.joined(separator: ",")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          #"{"id":"sale","app":"shop","audience":{"users":[\#(names)]},"notification":{"title":"Hi {{n | default: \"you\"}}","badge":"+1"},"localized":{"ja":{"title":"やあ"}},"variables":{"u3":{"n":"Ann"}},"filter":{"custom":{"plan":["pro"]}}}"#
        )
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 40 && record.counts.skipped == 80 && record.isBalanced)
      }
      for (number, device) in devices.enumerated() {
        let badge = try await client.devices(device.user).first?.installation.badge
        #expect(badge == (number % 3 == 0 ? 1 : nil))
      }
      let bodies = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.bodyHash)
      #expect(bodies.values.map(\.count).sorted() == [1, 19, 20])
      #expect(
        Set(stage.simulator.acceptedPushes.map(\.token))
          == Set(stride(from: 0, to: 120, by: 3).map { devices[$0].token.text }))
    }
  }

  @Test("a push that is tried again is held against what the installation says by then")
  func triedAgain() async throws {
    let script = SimulatorScript.stage {
      $0.rules = [
        ScriptRule(tokenPrefix: "ff", status: 503, reason: "ServiceUnavailable", times: 2)
      ]
    }
    try await PushStage.with(script: script) { stage in
      let client = stage.client
      var devices =
        try Devices.apns(0..<20) + (20..<22).map { try Devices.apns($0, prefix: "ff") }
      for number in devices.indices { devices[number].device.appVersion = "1.4" }
      try await client.install(devices)
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Devices.job("old", 0..<22, #","filter":{"app_version":{"<":"2"}}"#))
        _ = try await eventually("two wait to be tried again") {
          stage.simulator.counters.answers[503] == 2 ? try await client.nextDueMs() : nil
        }
        devices[21].device.appVersion = "2.0"
        try await client.install([devices[21]])
        let record = try await client.finishedInHaste("old")
        #expect(record.counts.accepted == 21 && record.counts.skipped == 1)
        #expect(record.total == 22 && record.isBalanced)
      }
      #expect(stage.duplicates == 0)
    }
  }

  @Test(
    "a worker that dies on the way changes nothing of who receives, and nothing of the sums",
    arguments: ["before settle:1", "after settle:1", "before settle:2"])
  func diesOnTheWay(point: String) async throws {
    let script = TroubledDevices.script(retries: 10)
    try await PushStage.with(script: script, worker: TroubledDevices.worker, mostlyWaits: true) {
      stage in
      let client = stage.client
      var devices = try TroubledDevices.of(users: 40)
      for number in devices.indices {
        devices[number].custom["plan"] = number % 4 == 0 ? "free" : "pro"
      }
      try await client.install(devices)
      let wanted = devices.filter { $0.custom["plan"] == "pro" }
      _ = try await client.enqueue(
        Devices.job("once", 0..<40, #","filter":{"custom":{"plan":["pro"]}}"#))
      let process = try stage.startProcess(crashAt: point)
      guard await process.hasDied(at: point) else { return }
      try await stage.withWorkers { _ in
        let record = try await client.finishedInHaste("once")
        #expect(record.counts.accepted == wanted.count)
        #expect(record.counts.skipped == devices.count - wanted.count)
        #expect(record.total == devices.count && record.isBalanced)
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.token)) == Set(wanted.map(\.token.text)))
    }
  }

  @Test("a chunk of a job whose filter this version does not know is not sent")
  func newerFilter() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2))
      _ = try await client.command("HSET", "pushpool:switches", "app|shop", "a test")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          Devices.job("sale", 0..<2, #","filter":{"network":["apns"]}"#))
        _ = try await eventually("it is admitted") {
          try await client.record("sale")?.isAdmitted == true ? true : nil
        }
      }
      let key = "pushpool:content:shop:sale"
      let content = try #require(try await client.command("GET", key).string)
      _ = try await client.command(
        "SET", key, content.replacing(#"{"network":"#, with: #"{"moon":["full"],"network":"#))
      _ = try await client.command("HDEL", "pushpool:switches", "app|shop")
      try await stage.withWorkers { _ in
        _ = try await eventually("its chunk is a dead letter") {
          try await client.hurry()
          return try await client.entries("dead")
            .contains { $0["reason"] == "content_unreadable" } ? true : nil
        }
      }
      #expect(stage.simulator.acceptedPushes.isEmpty)
    }
  }
}
