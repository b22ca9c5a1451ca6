import LocalServices
import Model
import Testing
import TestSupport

@testable import Server

/// Changes of an installation in part.
@Suite struct InstallationPatchTests {
  private static let token = "aabbccdd"

  private static func patch(
    _ stage: InstallationStage, _ body: String, ifMatch: String? = nil,
    as caller: Caller = InstallationStage.server
  ) async throws -> InstallationStage.Answer {
    try await stage.call(
      .patch, token: token, body, headers: ifMatch.map { ["if-match": $0] } ?? [:], as: caller)
  }

  @Test("a patch sets, removes and keeps fields, and gives a new version")
  func merges() async throws {
    try await InstallationStage.with { stage in
      try await stage.install(
        "u1", Self.token,
        #"""
        , "app_name": "Shop", "app_version": "1", "language": "de", "badge": 2, "kind": "voip",
        "environment": "development", "channels": ["a", "b"], "custom": {"x": "1", "y": "2"}
        """#)
      let before = try await stage.call(.get, token: Self.token)
      let answer = try await Self.patch(
        stage,
        #"""
        {"app_version": "2", "language": null, "badge": null, "kind": null, "environment": null,
         "channels": ["b", "c"], "custom": {"x": null, "z": "3"}, "time_zone": "Asia/Tokyo"}
        """#)
      #expect(answer.status == 200, "\(answer)")
      let after = try await stage.call(.get, token: Self.token)
      #expect(after.json == answer.json)
      #expect(after.headers["etag"] == answer.headers["etag"])
      #expect(after.headers["etag"] != before.headers["etag"])
      #expect(after["app_name"] == .string("Shop") && after["app_version"] == .string("2"))
      #expect(after["language"] == nil && after["badge"] == nil && after["kind"] == nil)
      #expect(after["environment"] == .string("production"))
      #expect(after["channels"] == .array([.string("b"), .string("c")]))
      #expect(after["custom"] == ["y": .string("2"), "z": .string("3")])
      #expect(after["time_zone"] == .string("Asia/Tokyo"))
      #expect(after["object_id"] == before["object_id"])
      #expect(after["created_at"] == before["created_at"])
      let channels = try await stage.call(.get, "/v1/apps/{app}/channels", [:])
      #expect(channels.items.compactMap { $0.objectValue?["name"]?.stringValue } == ["b", "c"])
    }
  }

  @Test("fields that are objects or lists can be removed as a whole")
  func removesWholes() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token, #", "channels": ["a"], "custom": {"x": "1"}"#)
      let answer = try await Self.patch(stage, #"{"channels": null, "custom": null}"#)
      #expect(answer.status == 200 && answer["channels"] == nil && answer["custom"] == nil)
      #expect(try await stage.call(.get, token: Self.token).json == answer.json)
      #expect(try await stage.call(.get, "/v1/apps/{app}/channels", [:]).items.isEmpty)
    }
  }

  @Test("a patch that changes nothing gives no new version")
  func nothing() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token, #", "language": "de""#)
      for body in ["{}", #"{"language": "de"}"#, #"{"app_name": null}"#, #"{"channels": []}"#] {
        let answer = try await Self.patch(stage, body)
        #expect(answer.status == 200 && answer.headers["etag"] == "\"1\"", "\(body) \(answer)")
      }
    }
  }

  @Test("seconds are no instant, and where they are stored other fields can still be changed")
  func seconds() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token)
      let refused = try await Self.patch(stage, #"{"updated_at": 1700000000}"#)
      #expect(refused.status == 422 && refused.pointers == ["/updated_at"], "\(refused)")
      try await stage.redis.command(
        "HSET", "pushpool:token:apns:shop:\(Self.token)", "created_at", "1700000000", "updated_at",
        "1700000000")
      let same = try await Self.patch(stage, "{}")
      #expect(same.status == 200 && same["updated_at"] == .integer(1_700_000_000), "\(same)")
      let answer = try await Self.patch(stage, #"{"badge": 1}"#)
      #expect(answer.status == 200 && answer["badge"] == .integer(1), "\(answer)")
      #expect(answer["created_at"] == .integer(1_700_000_000))
      #expect((answer["updated_at"]?.int64Value ?? 0) > Limits.recentInstantMsMin)
    }
  }

  @Test("If-Match lets a patch through while the installation is what it names")
  func conditions() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token)
      func status(_ body: String, _ condition: String) async throws -> Int {
        try await Self.patch(stage, body, ifMatch: condition).status
      }
      #expect(try await status(#"{"badge": 1}"#, "\"1\"") == 200)
      #expect(try await status(#"{"badge": 2}"#, "\"1\"") == 412)
      #expect(try await status(#"{"badge": 2}"#, "W/\"2.1\"") == 412, "weak tags match nothing")
      #expect(try await status(#"{"badge": 2}"#, "\"x\" , \"2.1\"") == 200)
      #expect(try await status(#"{"badge": 3}"#, "*") == 200)
      #expect(try await status(#"{"badge": 4}"#, "4.3") == 400)
      // A badge that a job raised is another version, though the generation is the same.
      let before = try await stage.call(.get, token: Self.token)
      try await stage.redis.command(
        "HSET", "pushpool:token:apns:shop:\(Self.token)", "badge", "9")
      let tag = try #require(before.headers["etag"])
      #expect(try await status(#"{"app_name": "x"}"#, tag) == 412)
      #expect(try await Self.patch(stage, #"{"app_name": "x"}"#)["badge"] == .integer(9))
    }
  }

  @Test("of two patches with the same If-Match one is made")
  func race() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token)
      let statuses = try await Self.atOnce(2) { number in
        try await Self.patch(stage, #"{"badge": \#(number)}"#, ifMatch: "\"1\"").status
      }
      #expect(statuses == [200, 412])
    }
  }

  @Test("of patches at once without If-Match none is lost")
  func concurrent() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token)
      let count = 6
      #expect(count < ServerLimits.patchTriesMax)
      let statuses = try await Self.atOnce(count) { number in
        try await Self.patch(stage, #"{"custom": {"f\#(number)": "x"}}"#).status
      }
      #expect(statuses == Array(repeating: 200, count: count))
      let after = try await stage.call(.get, token: Self.token)
      #expect(after["custom"]?.objectValue?.count == count)
    }
  }

  private static func atOnce(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Int
  ) async throws -> [Int] {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 1...count { group.addTask { try await body(number) } }
      var statuses: [Int] = []
      for try await status in group { statuses.append(status) }
      return statuses.sorted()
    }
  }

  @Test("a patch is of the caller's own installation, and moves no token")
  func owners() async throws {
    try await InstallationStage.with { stage in
      let device = InstallationStage.device("u1")
      #expect(try await Self.patch(stage, "{}", as: device).status == 404)
      #expect(try await Self.patch(stage, "{}", ifMatch: "*", as: device).status == 404)
      try await stage.install("u1", Self.token)
      let own = try await Self.patch(stage, #"{"user": "u1", "badge": 1}"#, as: device)
      #expect(own.status == 200)
      #expect(try await Self.patch(stage, #"{"user": "u2"}"#, as: device).status == 403)
      #expect(try await Self.patch(stage, #"{"user": "u2"}"#).status == 409)
      try await stage.install("u2", Self.token)
      #expect(try await Self.patch(stage, #"{"badge": 7}"#, as: device).status == 409)
      #expect(try await stage.call(.get, token: Self.token)["badge"] == nil)
    }
  }

  @Test(
    "a patch that breaks a rule is refused, and the answer names the field",
    arguments: [
      (#"{"langauge": null}"#, 422, "/langauge"), (#"{"user": null}"#, 422, "/user"),
      (#"{"token": "00112233"}"#, 422, "/token"), (#"{"app": "other"}"#, 422, "/app"),
      (#"{"object_id": "other"}"#, 422, "/object_id"), (#"{"object_id": null}"#, 422, "/object_id"),
      (#"{"created_at": 5}"#, 422, "/created_at"), (#"{"badge": "1"}"#, 422, "/badge"),
      (#"{"custom": {"a": {"b": null}}}"#, 422, "/custom/a"),
      (#"{"custom": {"a b": null}}"#, 422, "/custom/a b"),
      (#"{"channels": [null]}"#, 422, "/channels/0"), (#"[{"op": "remove"}]"#, 422, ""),
      (#""x""#, 422, ""), ("null", 422, ""), ("{", 400, nil),
    ] as [(String, Int, String?)])
  func refusals(body: String, status: Int, pointer: String?) async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.token)
      let before = try await stage.call(.get, token: Self.token)
      let answer = try await Self.patch(stage, body)
      #expect(answer.status == status, "\(answer)")
      #expect(answer.pointers == (pointer.map { [$0] } ?? []), "\(answer)")
      #expect(try await stage.call(.get, token: Self.token).json == before.json)
    }
  }
}
