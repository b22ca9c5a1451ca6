import LocalServices
import Model
import Redis
import Testing

@testable import Simulator

/// Texts in the language of their receiver, with values of its own.
@Suite struct PersonalTextTests {
  private static func hash(_ body: String) -> UInt64 {
    Array(body.utf8).withUnsafeBytes { BodyHash.of($0) }
  }

  private static func apns(_ number: Int, _ language: String?) throws -> Installation {
    var installation = try Devices.apns(number)
    installation.device.language = language
    return installation
  }

  /// The body that APNs got for a user's device.
  private static func body(_ title: String, _ text: String) -> UInt64 {
    hash(#"{"aps":{"alert":{"title":"\#(title)","body":"\#(text)"}}}"#)
  }

  private static let hello = #"""
    "notification": {"title": "Hello {{name}}", "body": "You have {{points | default: \"no\"}} points"},
    "localized": {"ja": {"title": "{{name}}さん"}, "zh-Hant": {"title": "你好 {{name}}", "body": "繁"}, "zh": {"body": "简"}}
    """#

  @Test("each device gets its language and its user's values, from a HASH or from the job")
  func fillsIn() async throws {
    try await PushStage.with { stage in
      try await stage.client.install([
        try Self.apns(0, "en-GB"), try Self.apns(1, "ja-JP"), try Self.apns(2, "zh-Hant-TW"),
        try Self.apns(3, "zh-CN"), try Self.apns(4, nil),
      ])
      let values = [
        #"{"name": "Ann", "points": 7}"#, #"{"name": "花子"}"#, #"{"name": "\"台\""}"#,
        #"{"name": "李"}"#, #"{"name": "a\nb", "points": "1.0"}"#,
      ]
      for (number, value) in values.enumerated() {
        _ = try await stage.client.command("HSET", "names", "u\(number)", value)
      }
      let inline = values.enumerated().map { #""u\#($0)": \#($1)"# }.joined(separator: ",")
      let expected = [
        Self.body("Hello Ann", "You have 7 points"), Self.body("花子さん", "You have no points"),
        Self.body(#"你好 \"台\""#, "繁"), Self.body("Hello 李", "简"),
        Self.body(#"Hello a\nb"#, "You have 1.0 points"),
      ]
      try await stage.withWorkers { _ in
        for (id, source) in [
          ("key", #""variables_key": "names""#), ("inline", #""variables": {\#(inline)}"#),
        ] {
          let before = stage.simulator.acceptedPushes.count
          _ = try await stage.client.enqueue(
            #"{"id": "\#(id)", "app": "shop", "audience": {"users": ["u0","u1","u2","u3","u4"]}, \#(Self.hello), \#(source)}"#
          )
          #expect(try await stage.client.finished(id).counts.accepted == 5)
          let bodies = stage.simulator.acceptedPushes.dropFirst(before)
            .sorted { $0.token < $1.token }.map(\.bodyHash)
          #expect(bodies == expected, "\(id)")
        }
      }
    }
  }

  @Test("on every network, and for an audience of installations; JPush gets those texts one by one")
  func everyNetwork() async throws {
    try await PushStage.with(endpoints: .init(hasJPush: true)) { stage in
      try await stage.client.install(
        try Devices.apns(0..<3) + Devices.fcm(0..<3) + Devices.jpush(0..<3))
      for user in 0..<3 {
        _ = try await stage.client.command("HSET", "names", "u\(user)", #"{"name":"N\#(user)"}"#)
      }
      let tokens = try (0..<3).flatMap {
        [try Devices.apns($0), try Devices.fcm($0), try Devices.jpush($0)]
      }.map { #"{"network":"\#($0.token.network.rawValue)","token":"\#($0.token.text)"}"# }
      try await stage.withWorkers { _ in
        for (id, audience) in [
          ("users", #"{"users":["u0","u1","u2"]}"#),
          ("tokens", #"{"installations":[\#(tokens.joined(separator: ","))]}"#),
        ] {
          let before = stage.simulator.acceptedPushes.count
          _ = try await stage.client.enqueue(
            #"{"id":"\#(id)","app":"shop","audience":\#(audience),"notification":{"body":"Hi {{name}}"},"variables_key":"names"}"#
          )
          #expect(try await stage.client.finished(id).counts.accepted == 9)
          let accepted = stage.simulator.acceptedPushes.dropFirst(before)
          for network in Network.allCases {
            let bodies = Set(accepted.filter { $0.network == network }.map(\.bodyHash))
            #expect(bodies.count == 3, "\(id) \(network)")
          }
        }
      }
    }
  }

  @Test("one receiver's missing, unreadable or long values cost its push alone, and are told apart")
  func rejectsAlone() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try Devices.apns(0..<5))
      let long = String(repeating: "x", count: 4_100)
      for (user, value) in [
        ("u0", #"{"name":"Ann"}"#), ("u1", #"{"nam":"Bob"}"#), ("u3", "Bob"),
        ("u4", #"{"name":"\#(long)"}"#),
      ] {
        _ = try await stage.client.command("HSET", "names", user, value)
      }
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(
          Devices.job(
            "sale", 0..<5, #", "apns": {"payload": {"name": "{{name}}"}}, "variables_key": "names""#
          ))
        let record = try await stage.client.finished("sale")
        #expect(record.counts.accepted == 1)
        #expect(record.counts.rejected == 4)
        #expect(record.isBalanced && record.total == 5)
      }
      #expect(stage.simulator.acceptedPushes.count == 1)
      for (user, cause) in [
        ("u1", TraceCause.missingVariable), ("u2", .missingVariable),
        ("u3", .unreadableVariables), ("u4", .payloadTooLarge),
      ] {
        let traced = try await stage.pushpool(
          "trace", "--job", "sale", "--app", "shop", "--user", user)
        #expect(traced.output.contains(cause.explanation), "\(user): \(traced.output)")
      }
    }
  }

  @Test("a key of values that is missing or no HASH is refused by name")
  func refusesKeys() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1))
      _ = try await client.command("RPUSH", "list", "u0")
      try await stage.withWorkers { _ in
        for key in ["missing", "list"] {
          _ = try await client.enqueue(Devices.job(key, 0..<1, #", "variables_key": "\#(key)""#))
        }
        _ = try await client.enqueue(Devices.job("good", 0..<1))
        #expect(try await client.finished("good").counts.accepted == 1)
        let letters = try await eventually("both are dead letters") {
          let letters = try await client.entries("dead")
          return letters.count == 2 ? letters : nil
        }
        #expect(letters.allSatisfy { $0["field"] == "/variables_key" })
        let complaints = Dictionary(uniqueKeysWithValues: letters.map { ($0["id"], $0["message"]) })
        #expect(complaints["missing"]??.contains("does not exist in this database") == true)
        #expect(complaints["list"]??.contains("it must be a HASH") == true)
      }
    }
  }

  @Test("one user's values of any length hold up nobody else's")
  func longValues() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try Devices.apns(0..<100))
      for user in 0..<100 {
        let name = String(repeating: "x", count: user == 7 ? 3_000_000 : user == 8 ? 16_384 : 4)
        _ = try await stage.client.command("HSET", "names", "u\(user)", #"{"name":"\#(name)"}"#)
      }
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(
          Devices.job(
            "sale", 0..<100, #", "apns": {"payload": {"n": "{{name}}"}}, "variables_key": "names""#)
        )
        let record = try await stage.client.finished("sale")
        #expect(record.counts.accepted == 98 && record.counts.rejected == 2)
      }
      for user in ["u7", "u8"] {
        let traced = try await stage.pushpool(
          "trace", "--job", "sale", "--app", "shop", "--user", user)
        #expect(
          traced.output.contains(TraceCause.unreadableVariables.explanation), "\(traced.output)")
      }
    }
  }

  @Test("a key that becomes another type meanwhile rejects only pushes that need a value from it")
  func wrongType() async throws {
    try await PushStage.with { stage in
      try await stage.client.install(try [Devices.apns(0), Devices.fcm(1)])
      _ = try await stage.client.command("HSET", "names", "u0", "{}")
      try await stage.withWorkers { _ in
        _ = try await stage.client.command("HSET", "pushpool:switches", "app|shop", "")
        _ = try await stage.client.enqueue(
          Devices.job(
            "sale", 0..<2, #", "apns": {"payload": {"name": "{{name}}"}}, "variables_key": "names""#
          ))
        _ = try await eventually("the job is admitted") {
          try await stage.client.record("sale")?.isAdmitted == true ? true : nil
        }
        _ = try await stage.client.command("DEL", "names")
        _ = try await stage.client.command("RPUSH", "names", "u0")
        _ = try await stage.client.command("DEL", "pushpool:switches")
        let record = try await stage.client.finished("sale")
        #expect(record.counts.accepted == 1)
        #expect(record.counts.rejected == 1)
      }
      let traced = try await stage.pushpool(
        "trace", "--job", "sale", "--app", "shop", "--user", "u0")
      #expect(
        traced.output.contains(TraceCause.noVariablesHash.explanation), "\(traced.output)")
    }
  }
}
