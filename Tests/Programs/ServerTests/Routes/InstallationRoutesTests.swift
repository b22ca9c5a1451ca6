import LocalServices
import Model
import Testing
import TestSupport

@testable import Server

@Suite struct InstallationRoutesTests {
  private static let one = "aabbccdd"
  private static let other = "00112233"

  @Test("an install is created, updated, and moved to whoever installs last")
  func lastInstallerWins() async throws {
    try await InstallationStage.with { stage in
      let first = try await stage.install("u1", Self.one)
      #expect(first.status == 201 && first["status"] == .string("created"))
      #expect(first.headers["location"] == "/v1/apps/shop/installations/apns/aabbccdd")
      #expect(first["evicted"] == .integer(0) && first["previous_user"] == nil)
      let again = try await stage.install("u1", Self.one.uppercased())
      #expect(again.status == 200 && again["status"] == .string("updated"))
      #expect(again["object_id"] == first["object_id"] && again["object_id"] != nil)
      #expect(again.headers["location"] == nil)
      let moved = try await stage.install("u2", Self.one)
      #expect(moved.status == 200 && moved["status"] == .string("moved"))
      #expect(moved["previous_user"] == .string("u1"))
      let back = try await stage.call(
        .put, token: Self.one, "{}", as: InstallationStage.device("u1"))
      #expect(back.status == 200 && back["status"] == .string("moved"))
      #expect(back["previous_user"] == nil, "a device is not told of another user")
    }
  }

  @Test("a device installs for its own user only, and may leave it out")
  func devices() async throws {
    try await InstallationStage.with { stage in
      let device = InstallationStage.device("u1")
      #expect(try await stage.call(.put, token: Self.one, "{}", as: device).status == 201)
      let named = try await stage.call(.put, token: Self.one, #"{"user": "u1"}"#, as: device)
      #expect(named.status == 200)
      let foreign = try await stage.call(.put, token: Self.one, #"{"user": "u2"}"#, as: device)
      #expect(foreign.status == 403)
      let nameless = Caller(role: .device, app: "shop", name: "", address: "")
      #expect(try await stage.call(.put, token: Self.one, "{}", as: nameless).status == 403)
      let found = try await stage.call(.get, token: Self.one)
      #expect(found["user"] == .string("u1"))
      // Two users whose names look alike are two users.
      let composed = InstallationStage.device("caf\u{e9}")
      let decomposed = "cafe\u{301}"
      let alike = try await stage.call(
        .put, token: Self.one, #"{"user": "\#(decomposed)"}"#, as: composed)
      #expect(alike.status == 403)
    }
  }

  @Test(
    "a body that breaks a rule is refused, and the answer names the field",
    arguments: [
      (#"{}"#, 422, "/user"), (#"{"user": ""}"#, 422, "/user"), (#"{"user": null}"#, 422, "/user"),
      (#"{"user": "u1", "app": "other"}"#, 422, "/app"),
      (#"{"user": "u1", "network": "fcm"}"#, 422, "/network"),
      (#"{"user": "u1", "token": "00112233"}"#, 422, "/token"),
      (#"{"user": "u1", "token": 5}"#, 422, "/token"),
      (#"{"user": "u1", "usr": "u1"}"#, 422, "/usr"),
      (#"{"user": "u1", "badge": -1}"#, 422, "/badge"),
      (#"{"user": "u1", "channels": [""]}"#, 422, "/channels/0"),
      (#"{"user": "u1", "custom": {"a": 1}}"#, 422, "/custom/a"),
      (#"["u1"]"#, 422, ""), (#"{"user": "u1""#, 400, nil), ("", 400, nil),
      (#"{"user": "u1", "user": "u2"}"#, 400, nil),
    ] as [(String, Int, String?)])
  func refusals(body: String, status: Int, pointer: String?) async throws {
    try await InstallationStage.with { stage in
      let answer = try await stage.call(.put, token: Self.one, body)
      #expect(answer.status == status, "\(answer)")
      #expect(answer.pointers == (pointer.map { [$0] } ?? []), "\(answer)")
      #expect(answer["detail"]?.stringValue?.isEmpty == false)
      #expect(try await stage.call(.get, token: Self.one).status == 404)
    }
  }

  @Test("a body that is not UTF-8 is refused, and so is one that is longer than an installation")
  func foreignBytes() async throws {
    try await InstallationStage.with { stage in
      let path = ["network": "apns", "token": Self.one]
      let bytes = Array(#"{"user": ""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)
      let foreign = try await stage.call(.put, path, body: bytes)
      #expect(foreign.status == 400)
      let long = Array("{}".utf8) + [UInt8](repeating: 0x20, count: Limits.installationBytesMax)
      #expect(try await stage.call(.put, path, body: long).status == 400)
    }
  }

  @Test("what the path names may stand in the body too")
  func agreement() async throws {
    try await InstallationStage.with { stage in
      let body = #"{"app": "shop", "network": "apns", "token": "AABBCCDD", "user": "u1"}"#
      let answer = try await stage.call(.put, token: Self.one, body)
      #expect(answer.status == 201)
    }
  }

  @Test("a path that breaks a rule is refused, and an app that nobody configured is not there")
  func paths() async throws {
    try await InstallationStage.with { stage in
      let body = Array(#"{"user": "u1"}"#.utf8)
      func status(_ path: [String: String]) async throws -> Int {
        try await stage.call(.put, path, body: body).status
      }
      #expect(try await status(["network": "apple", "token": Self.one]) == 422)
      #expect(try await status(["network": "apns", "token": "xyz"]) == 422)
      #expect(try await status(["network": "apns", "token": ""]) == 422)
      #expect(try await status(["app": "a b", "network": "apns", "token": Self.one]) == 422)
      #expect(try await status(["app": "other", "network": "apns", "token": Self.one]) == 404)
      let token = try await stage.call(.put, ["network": "apns", "token": "secret!"], body: body)
      #expect(!"\(token)".contains("secret"), "a token is as good as an address")
    }
    try await InstallationStage.with(apps: []) { stage in
      let answer = try await stage.install("u1", Self.one)
      #expect(answer.status == 201)
    }
  }

  @Test("a strict install finds the token bound, and names its object id")
  func strict() async throws {
    try await InstallationStage.with { stage in
      let pattern = "/v1/apps/{app}/installations"
      func post(_ body: String) async throws -> InstallationStage.Answer {
        try await stage.call(.post, pattern, [:], body: Array(body.utf8))
      }
      let body = #"{"user": "u1", "network": "fcm", "token": "cX1-a~b:APA91%"}"#
      let first = try await post(body)
      #expect(first.status == 201 && first["status"] == .string("created"))
      #expect(
        first.headers["location"] == "/v1/apps/shop/installations/fcm/cX1-a~b%3AAPA91%25")
      let second = try await post(body.replacing("u1", with: "u2"))
      #expect(second.status == 409)
      #expect(second["object_id"] == first["object_id"] && second["object_id"] != nil)
      let devices = try await stage.call(
        .get, "/v1/apps/{app}/users/{user}/installations", ["user": "u1"])
      #expect(devices.items.count == 1)
      #expect(try await post(#"{"user": "u1", "network": "fcm"}"#).pointers == ["/token"])
      #expect(try await post(#"{"user": "u1", "token": "cX1-a"}"#).pointers == ["/network"])
      #expect(try await post(#"{"app": "x", "user": "u1"}"#).pointers == ["/app"])
      #expect(try await post("{").status == 400)
    }
  }

  @Test("an installation is told with its version, and a device is not told another user's")
  func get() async throws {
    try await InstallationStage.with { stage in
      #expect(try await stage.call(.get, token: Self.one).status == 404)
      try await stage.install("u1", Self.one, #", "app_version": "2.1", "badge": 3"#)
      let found = try await stage.call(.get, token: Self.one)
      #expect(found.status == 200)
      #expect(found.headers["etag"] == "\"1.3\"")
      #expect(found["user"] == .string("u1") && found["app_version"] == .string("2.1"))
      #expect(found["environment"] == .string("production"))
      let own = try await stage.call(.get, token: Self.one, as: InstallationStage.device("u1"))
      #expect(own.status == 200)
      let foreign = try await stage.call(.get, token: Self.one, as: InstallationStage.device("u2"))
      #expect(foreign.status == 409 && !"\(foreign)".contains("u1"))
    }
  }

  @Test("a device is removed once, and by its own user only")
  func delete() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", Self.one)
      let late = InstallationStage.device("u0")
      #expect(try await stage.call(.delete, token: Self.one, as: late).status == 409)
      let named = try await stage.call(
        .delete, token: Self.one, query: [("user", "u1")], as: late)
      #expect(named.status == 403)
      let wrong = try await stage.call(.delete, token: Self.one, query: [("user", "u0")])
      #expect(wrong.status == 409)
      let twice = try await stage.call(
        .delete, token: Self.one, query: [("user", "u1"), ("user", "u2")])
      #expect(twice.status == 400)
      #expect(try await stage.call(.get, token: Self.one).status == 200)
      let own = InstallationStage.device("u1")
      #expect(try await stage.call(.delete, token: Self.one, as: own).status == 204)
      #expect(try await stage.call(.get, token: Self.one).status == 404)
      #expect(try await stage.call(.delete, token: Self.one, as: own).status == 204)
      #expect(try await stage.call(.delete, token: Self.other).status == 204)
    }
  }

  @Test("something else under a key is told, and its name is for the log alone")
  func wrongType() async throws {
    try await InstallationStage.with { stage in
      try await stage.redis.command("SET", "pushpool:token:apns:shop:\(Self.one)", "x")
      let answer = try await stage.call(.put, token: Self.one, #"{"user": "u1"}"#)
      #expect(answer.status == 500)
      #expect(!"\(answer)".contains("pushpool:token"))
    }
  }

  @Test("while Redis is away the answer is 503, with a time to try again")
  func away() async throws {
    try await InstallationStage.with { stage in
      await stage.redis.kill9()
      let answer = try await stage.call(.put, token: Self.one, #"{"user": "u1"}"#)
      #expect(answer.status == 503 && answer.headers["retry-after"] != nil)
    }
  }

  @Test("installs of many requests at once each have an answer of their own")
  func atOnce() async throws {
    try await InstallationStage.with { stage in
      let ids = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
        for number in 0..<200 {
          group.addTask {
            try await stage.install("u\(number)", "aabbcc\(100 + number)0")["object_id"]
          }
        }
        var ids: Set<String> = []
        for try await id in group { if let text = id?.stringValue { ids.insert(text) } }
        return ids
      }
      #expect(ids.count == 200)
    }
  }
}
