import LocalServices
import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// The functions that backends register devices with.
@Suite struct RegistrationTests {
  private static func withStore(
    _ body: @Sendable (isolated TestLane, ShardStore) async throws -> Void
  ) async throws {
    try await Lane.withStore { lane, store in
      try await store.registration.provide()
      try await body(lane, store)
    }
  }

  private static func document(_ user: String, _ token: String = "cX1-token:APA91") -> String {
    #"{"app":"shop","user":"\#(user)","network":"fcm","token":"\#(token)"}"#
  }

  private static func status(_ answer: JSONValue) -> String? {
    answer.objectValue?["status"]?.stringValue
  }

  /// Everything below a prefix, as its keys without it and what they hold; entries of streams without their ids.
  private static func content(_ prefix: String, _ store: ShardStore) async throws -> [String:
    [String]]
  {
    var content: [String: [String]] = [:]
    for key in try await store.allKeys() where key.hasPrefix(prefix) {
      let type = try await store.redis("TYPE", key)
      let value: [String]
      switch type {
      case .status("hash"):
        value = try await store.redis("HGETALL", key).pairs.map { name, value in
          // Without the times.
          if name == "moved_at" { return name }
          guard key.contains(":departed:") else { return "\(name)=\(value)" }
          return "\(name)=\(value.split(separator: "\t", maxSplits: 2).first ?? "")"
        }.sorted()
      case .status("stream"):
        let entries = try await store.redis("XRANGE", key, "-", "+").array ?? []
        value = entries.map { "\($0.array?.last?.pairs.map { "\($0)=\($1)" } ?? [])" }
      case .status("zset"):
        let members = try await store.redis("ZRANGE", key, "0", "-1").array ?? []
        value = members.map { $0.string ?? "?" }
      default: value = [try await store.redis("GET", key).string ?? "?"]
      }
      content[String(key.dropFirst(prefix.utf8.count))] = value
    }
    return content
  }

  @Test func `a device is created, updated and moved, and keeps its object id`() async throws {
    try await Self.withStore { _, store in
      let first = try await store.register("pushpool_install", Self.document("ann"))
      let id = try #require(first.objectValue?["object_id"]?.stringValue)
      #expect(Self.status(first) == "created" && id.utf8.count == 32)
      let again = try await store.register("pushpool_install", Self.document("ann"))
      #expect(
        again == .object(["status": .string("updated"), "object_id": .string(id)]))
      let moved = try await store.register("pushpool_install", Self.document("bob"))
      #expect(moved == .object(["status": .string("moved"), "object_id": .string(id)]))
      let left = try await store.register("pushpool_devices", #"{"app":"shop","user":"ann"}"#)
      #expect(left == .array([]))
      // Installed again after it was removed, it is another installation.
      _ = try await store.register(
        "pushpool_uninstall", #"{"app":"shop","network":"fcm","token":"cX1-token:APA91"}"#)
      let anew = try await store.register("pushpool_install", Self.document("ann"))
      #expect(Self.status(anew) == "created")
      #expect(anew.objectValue?["object_id"]?.stringValue != id)
    }
  }

  @Test func `strict creation of an existing token is a conflict that changes nothing`()
    async throws
  {
    try await Self.withStore { _, store in
      let first = try await store.register("pushpool_create", Self.document("ann"))
      #expect(Self.status(first) == "created")
      let before = try await Self.content(store.keys.prefix, store)
      let second = try await store.register("pushpool_create", Self.document("bob"))
      #expect(Self.status(second) == "conflict")
      #expect(
        second.objectValue?["object_id"] == first.objectValue?["object_id"])
      #expect(try await Self.content(store.keys.prefix, store) == before)
    }
  }

  @Test func `an uninstall that names a user removes only that user's binding`() async throws {
    try await Self.withStore { _, store in
      _ = try await store.register("pushpool_install", Self.document("ann"))
      let named = #"{"app":"shop","network":"fcm","token":"cX1-token:APA91","user":"#
      for (user, status) in [("bob", "other_owner"), ("ann", "removed"), ("ann", "absent")] {
        let answer = try await store.register("pushpool_uninstall", named + "\"\(user)\"}")
        #expect(answer == .object(["status": .string(status)]))
      }
    }
  }

  @Test func `the devices of a user are told as they are imported`() async throws {
    try await Self.withStore { _, store in
      var full = Installation(
        app: "shop", user: "ü:1", token: DeviceToken(stored: "ab12ab12", network: .apns),
        environment: .development, objectID: "object-7",
        device: Installation.Device(
          type: "ios", appName: "Shöp", appVersion: "1.2", osVersion: "14", sdkVersion: "3.4",
          timeZone: "Asia/Tokyo", language: "ja-JP"),
        channels: ["a \"b\"", "b_c"], custom: ["x": "1\u{0}/\n", "y": ""])
      full.badge = 2
      full.createdAtMs = 1_600_000_000_000
      full.updatedAtMs = 1_600_000_000_001
      let other = Installation(
        app: "shop", user: "ü:1", token: DeviceToken(stored: "a:b:c.d-e", network: .fcm))
      for installation in [full, other] {
        _ = try await store.register("pushpool_install", installation.json().text())
      }
      let answer = try await store.register("pushpool_devices", #"{"app":"shop","user":"ü:1"}"#)
      let stored = try await store.installations.devices(app: "shop", user: "ü:1")
      #expect(stored.count == 2 && stored[0].installation == full)
      #expect(answer == .array(stored.map { $0.installation.json() }))
      // Nothing is written, so a replica answers as well.
      let read = try await store.redis(
        "FCALL_RO", "pushpool_devices", "1", store.keys.prefix, #"{"app":"shop","user":"ü:1"}"#)
      #expect(try JSONParser().parse(read.bytes ?? []) == answer)
    }
  }

  @Test func `users subscribe to topics and leave them, with or without devices`() async throws {
    try await Self.withStore { _, store in
      let document = #"{"app":"shop","topic":"news","user":"ann"}"#
      for (function, status) in [
        ("subscribe", "subscribed"), ("subscribe", "unchanged"), ("unsubscribe", "unsubscribed"),
        ("unsubscribe", "absent"), ("subscribe", "subscribed"),
      ] {
        let answer = try await store.register("pushpool_\(function)", document)
        #expect(answer == .object(["status": .string(status)]))
      }
      #expect(try await store.members(of: .topic("news")) == ["ann"])
      #expect(try await store.members(of: .all) == [])
      _ = try await store.register("pushpool_install", Self.document("ann"))
      #expect(try await store.members(of: .all) == ["ann"])
    }
  }

  @Test func `what is told of a user is bounded, and says what it leaves out`() async throws {
    try await Self.withStore { _, store in
      let value = String(repeating: "v", count: Limits.customValueBytesMax)
      for number in 0..<10 {
        var installation = Installation(
          app: "shop", user: "u",
          token: DeviceToken(stored: "token-\(1_000 + number)", network: .fcm))
        for field in 0..<Limits.customFieldsMax { installation.custom["f\(field)"] = value }
        _ = try await store.register("pushpool_install", installation.json().text())
      }
      let answer = try await store.register("pushpool_devices", #"{"app":"shop","user":"u"}"#)
      let devices = try #require(answer.arrayValue).compactMap(\.objectValue)
      #expect(devices.count == 10)
      #expect(answer.bytes().count < 4 * RegistrationRules.answerBytesMax / 2)
      for device in devices {
        #expect((device["custom"] == nil) == (device["truncated"] == .bool(true)))
        #expect(device["object_id"] != nil && device["updated_at"]?.int64Value != nil)
      }
      #expect(devices.first?["custom"] != nil && devices.last?["custom"] == nil)
    }
  }

  @Test func `a backend and the command line change the same things in the same way`()
    async throws
  {
    try await Self.withStore { _, store in
      let other = "{other}"
      func installation(_ user: String, _ token: String) throws -> Installation {
        var installation = Installation(
          app: "shop", user: user, token: try DeviceToken(token, network: .apns),
          objectID: "o-\(token)")
        installation.createdAtMs = 1_600_000_000_000
        installation.updatedAtMs = 1_600_000_000_000
        if user == "ann" {
          installation.kind = .voip
          installation.badge = 3
          installation.channels = ["a", "b"]
          installation.custom = ["plan": "gold"]
        }
        return installation
      }
      for (user, token) in [
        ("ann", "ab12ab12"), ("ann", "cd34cd34"), ("bob", "AB12AB12"), ("bob", "ef56ef56"),
        ("ann", "cd34cd34"),
      ] {
        let installation = try installation(user, token)
        _ = try await store.installations.install(installation)
        _ = try await store.register(
          "pushpool_install", installation.json().text(), prefix: other)
      }
      for number in 0..<Limits.installationsPerUserMax {
        let installation = try installation("bob", "ff00\(1_000 + number)")
        _ = try await store.installations.create(installation)
        _ = try await store.register("pushpool_create", installation.json().text(), prefix: other)
      }
      let gone = try DeviceToken("cd34cd34", network: .apns)
      _ = try await store.installations.uninstall(app: "shop", token: gone, owner: "ann")
      _ = try await store.register(
        "pushpool_uninstall",
        #"{"app":"shop","network":"apns","token":"CD34CD34","user":"ann"}"#, prefix: other)
      let theirs = try await Self.content(other, store)
      #expect(theirs.count > Limits.installationsPerUserMax)
      #expect(try await Self.content(store.keys.prefix, store) == theirs)
    }
  }

  @Test func `a call of another form is refused, and what another program holds is no accident`()
    async throws
  {
    try await Self.withStore { _, store in
      for name in ["install", "create", "uninstall", "devices", "subscribe", "unsubscribe"] {
        let keys = "takes two keys, the prefix and"
        for (words, complaint) in [
          (["0"], "\(keys) PREFIX:guard, and one argument, a JSON object"),
          (["1", "pp"], "takes one argument beside its keys, a JSON object"),
          (["2", "pp", "qq", "{}"], "\(keys) pp:guard, and one argument, a JSON object"),
          (["1", "pp", "{}", "{}"], "takes one argument beside its keys, a JSON object"),
          (["3", "pp", "pp:guard", "x"], "\(keys) pp:guard, and one argument, a JSON object"),
        ] {
          var command = RedisCommand("FCALL", "pushpool_\(name)")
          for word in words { command.append(word) }
          let error = await failure { try await store.connection.call(command) }
          #expect(
            error == .server(code: "INVALID", message: "pushpool_\(name) \(complaint)"))
        }
      }
      _ = try await store.redis("RPUSH", store.keys.user(app: "shop", user: "ann"), "x")
      let before = try await store.allKeys()
      let error = await failure {
        try await store.register("pushpool_install", Self.document("ann"))
      }
      guard case .server("WRONGTYPE", _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try await store.allKeys() == before)
    }
  }
}
