import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Simulator

/// `"badge": "+1"`: each installation's badge is raised once for a job, whatever happens on the way.
@Suite struct BadgeTests {
  private static func job(_ id: String, _ users: [String], _ more: String = "") -> String {
    let names = users.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"id": "\(id)", "app": "shop", "audience": {"users": [\(names)]},
       "notification": {"title": "T", "badge": "+1"}\(more)}
      """
  }

  private static func hash(_ body: String) -> UInt64 {
    Array(body.utf8).withUnsafeBytes { BodyHash.of($0) }
  }

  private static func apnsBody(_ badge: Int) -> UInt64 {
    hash(#"{"aps":{"alert":{"title":"T"},"badge":\#(badge)}}"#)
  }

  private func badges(_ stage: PushStage, _ user: String) async throws -> [Int?] {
    try await stage.client.devices(user).map(\.installation.badge)
  }

  @Test("each installation gets its own next number, on every network")
  func everyNetwork() async throws {
    try await PushStage.with(endpoints: .init(hasJPush: true)) { stage in
      let client = stage.client
      var devices = [
        try Devices.apns(1, user: "u"), try Devices.fcm(2, user: "u"),
        try Devices.jpush(3, user: "u"), try Devices.apns(4, user: "v"),
      ]
      for (index, badge) in [4, nil, 120, 0].enumerated() { devices[index].badge = badge }
      try await client.install(devices)
      try await stage.withWorkers { _ in
        for id in ["one", "two"] {
          _ = try await client.enqueue(Self.job(id, ["u", "v"]))
          #expect(try await client.finished(id).counts.accepted == 4)
        }
        #expect(try await badges(stage, "u") == [6, 2, 122])
        #expect(try await badges(stage, "v") == [2])
        let token = devices[3].token.text
        _ = try await client.enqueue(
          #"{"id":"line","app":"shop","audience":{"installations":[{"network":"apns","token":"\#(token)"}]},"notification":{"title":"T","badge":"+1"}}"#
        )
        #expect(try await client.finished("line").counts.accepted == 1)
        #expect(try await badges(stage, "v") == [3])
      }
      let sent = Dictionary(grouping: stage.simulator.acceptedPushes, by: \.token)
        .mapValues { $0.map(\.bodyHash) }
      #expect(sent[devices[0].token.text] == [Self.apnsBody(5), Self.apnsBody(6)])
      #expect(sent[devices[3].token.text] == [1, 2, 3].map { Self.apnsBody($0) })
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  @Test(
    "users of many devices get a badge on each, and a chunk that is paused and resumed the same")
  func manyDevices() async throws {
    let script = SimulatorScript.stage { $0.delayMs = 300 }
    try await PushStage.with(script: script, worker: .narrow(40)) { stage in
      let client = stage.client
      let users = (0..<4).map { "u\($0)" }
      let devices = try (0..<400).map { try Devices.apns($0, user: users[$0 / 100]) }
      try await client.install(devices)
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Self.job("once", users))
        for accepted in [40, 160] {
          _ = try await eventually("\(accepted) are accepted") {
            stage.simulator.counters.accepted >= accepted ? true : nil
          }
          _ = try await client.pause("once")
          _ = try await client.resume("once")
        }
        let record = try await client.finishedInHaste("once")
        #expect(record.counts.accepted == 400 && record.isBalanced)
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.bodyHash)) == [Self.apnsBody(1)])
      for user in users {
        #expect(try await badges(stage, user) == Array(repeating: 1, count: 100))
      }
    }
  }

  @Test("JPush's pushes with the same number share requests")
  func sharesRequests() async throws {
    try await PushStage.with(endpoints: .init(hasJPush: true)) { stage in
      let client = stage.client
      try await client.install(
        try Devices.jpush(0..<1_000).map { device in
          var device = device
          device.badge = device.token.text.hasSuffix("7") ? 3 : 4
          return device
        })
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("many", (0..<1_000).map { "u\($0)" }))
        #expect(try await client.finished("many").counts.accepted == 1_000)
      }
      #expect(stage.simulator.counters.requests < 100)
      #expect(stage.simulator.counters.violations == 0)
      #expect(try await badges(stage, "u7") == [4])
      #expect(try await badges(stage, "u8") == [5])
    }
  }

  @Test("a push that is refused for its size, or for a value it lacks, raises no badge")
  func refusedRaisesNone() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try (0..<4).map { try Devices.apns($0, user: "u\($0)") })
      for (user, value) in [
        ("u0", #"{"name":"Ann"}"#), ("u1", #"{"name":"\#(String(repeating: "x", count: 4_090))"}"#),
        ("u2", #"{"other":"Bob"}"#), ("u3", "Bob"),
      ] {
        _ = try await client.command("HSET", "names", user, value)
      }
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(
          #"{"id":"sale","app":"shop","audience":{"users":["u0","u1","u2","u3"]},"notification":{"title":"{{name}}","badge":"+1"},"variables_key":"names"}"#
        )
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 1 && record.counts.rejected == 3 && record.isBalanced)
      }
      for (number, badge) in [1, nil, nil, nil].enumerated() {
        #expect(try await badges(stage, "u\(number)") == [badge])
      }
    }
  }

  @Test("a badge of ten digits fits into the longest payload that is admitted, to the byte")
  func tenDigits() async throws {
    let around = #"{"aps":{"alert":{"title":""},"badge":1000000001}}"#.utf8.count
    let title = String(repeating: "x", count: 4_096 - around)
    func job(_ id: String, _ title: String) -> String {
      Self.job(id, ["u"]).replacing(#""title": "T""#, with: #""title": "\#(title)""#)
    }
    // Without FCM, which would count the title in its own way.
    try await PushStage.with(endpoints: .init(hasFCM: false)) { stage in
      let client = stage.client
      var device = try Devices.apns(1, user: "u")
      device.badge = 1_000_000_000
      try await client.install([device])
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(job("fits", title))
        #expect(try await client.finished("fits").counts.accepted == 1)
        #expect(try await badges(stage, "u") == [1_000_000_001])
        _ = try await client.enqueue(job("long", title + "x"))
        let refusal = try await eventually("the longer one is refused") {
          try await client.record("long")?.refusal
        }
        #expect(refusal.message.contains("4,097 bytes with a badge of ten digits"))
        #expect(try await badges(stage, "u") == [1_000_000_001])
      }
      let body = #"{"aps":{"alert":{"title":"\#(title)"},"badge":1000000001}}"#
      #expect(body.utf8.count == 4_096)
      #expect(stage.simulator.acceptedPushes.map(\.bodyHash) == [Self.hash(body)])
      #expect(stage.simulator.counters.violations == 0)
    }
  }

  @Test("a push that is held back has no badge yet, and gets one when it goes on")
  func raisesLate() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1, user: "u"), try Devices.apns(2, user: "v")])
      _ = try await client.command("HSET", "pushpool:switches", "user|shop|u", "a test")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("held", ["u", "v"]))
        _ = try await eventually("the other user has it") {
          stage.simulator.counters.accepted == 1 ? true : nil
        }
        _ = try await eventually("the user's waits") { try await client.nextDueMs() }
        #expect(try await badges(stage, "u") == [nil])
        _ = try await client.command("HDEL", "pushpool:switches", "user|shop|u")
        #expect(try await client.finishedInHaste("held").counts.accepted == 2)
        #expect(try await badges(stage, "u") == [1])
      }
      #expect(Set(stage.simulator.acceptedPushes.map(\.bodyHash)) == [Self.apnsBody(1)])
    }
  }

  @Test("what is not sent to an installation does not raise its badge")
  func notRaised() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install([try Devices.apns(1, user: "u"), try Devices.fcm(2, user: "u")])
      try await stage.withWorkers { _ in
        // Android shows a badge beside a text only.
        _ = try await client.enqueue(
          #"{"id":"bare","app":"shop","audience":{"users":["u"]},"notification":{"badge":"+1"}}"#)
        #expect(try await client.finished("bare").counts.skipped == 1)
        #expect(try await badges(stage, "u") == [1, nil])
        let pastMs = try await client.serverMs() - 1_000
        _ = try await client.enqueue(Self.job("late", ["u"], ", \"expires_at\": \(pastMs)"))
        #expect(try await client.finished("late").counts.expired == 2)
        _ = try await client.enqueue(Self.job("dry", ["u"], #", "dry_run": true"#))
        _ = try await client.finished("dry")
        #expect(try await badges(stage, "u") == [1, nil])
      }
    }
  }

  @Test(
    "a worker that dies, and a push that is tried again, raise no badge twice",
    arguments: [
      "before give_badges:1", "after give_badges:1", "before settle:1", "after settle:1",
      "before settle:2",
      "after settle:2",
    ])
  func diesOnTheWay(point: String) async throws {
    let script = TroubledDevices.script(retries: 20)
    try await PushStage.with(script: script, worker: TroubledDevices.worker, mostlyWaits: true) {
      stage in
      let client = stage.client
      let users = (0..<40).map { "u\($0)" }
      let devices = try TroubledDevices.of(users: users.count)
      try await client.install(devices)
      _ = try await client.enqueue(Self.job("once", users))
      let process = try stage.startProcess(crashAt: point)
      guard await process.hasDied(at: point) else { return }
      try await stage.withWorkers { _ in
        let record = try await client.finishedInHaste("once")
        #expect(record.counts.accepted == devices.count && record.isBalanced)
      }
      #expect(stage.simulator.counters.answers[503] == 20)
      #expect(Set(stage.simulator.acceptedPushes.map(\.bodyHash)) == [Self.apnsBody(1)])
      #expect(
        Set(stage.simulator.acceptedPushes.map(\.token)) == Set(devices.map(\.token.text)))
      for user in users {
        #expect(try await badges(stage, user).allSatisfy { $0 == 1 })
      }
      let left = try await client.command("KEYS", "pushpool:badges:*").array ?? []
      #expect(left.isEmpty)
    }
  }
}
