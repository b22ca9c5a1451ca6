import Model
import Redis
import Simulator
import Testing

@Suite struct UsersKeyTests {
  private static func job(_ id: String, key: String) -> String {
    """
    {"id": "\(id)", "app": "shop", "audience": {"users_key": "\(key)"},
     "notification": {"title": "Hello", "body": "World"}}
    """
  }

  @Test("a campaign to a key of users reaches each of them once", arguments: ["SADD", "RPUSH"])
  func deliversToKey(command: String) async throws {
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<2_000))
      // Of 2,200 users 200 have no device.
      _ = try await client.command(
        "EVAL", "for n = 0, 2199 do redis.call(ARGV[1], KEYS[1], 'u' .. n) end", "1", "crowd",
        command)
      try await stage.withWorkers(2) { _ in
        _ = try await client.enqueue(Self.job("sale", key: "crowd"))
        let record = try await client.finished("sale")
        stage.expectDelivered(record, 2_000)
        #expect(record.counts.noInstallations == 200)
        // The same job again is the same job, whoever is in the key by now.
        _ = try await client.command("DEL", "crowd")
        _ = try await client.enqueue(Self.job("sale", key: "crowd"))
        _ = try await eventually("it is ignored") {
          try await client.length("jobs:normal") == 0 ? true : nil
        }
      }
      #expect(stage.duplicates == 0)
      #expect(try await client.length("dead") == 0)
    }
  }

  @Test("a key that is missing or of another type is refused by name")
  func refusesBadKeys() async throws {
    try await PushStage.with { stage in
      let client = stage.client
      _ = try await client.command("HSET", "hash", "a", "b")
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(Self.job("missing", key: "no-such-key"))
        _ = try await client.enqueue(Self.job("hash", key: "hash"))
        _ = try await eventually("both are judged") {
          try await client.length("dead") == 2 ? true : nil
        }
      }
      let letters = try await client.entries("dead")
      #expect(letters.map { $0["field"] } == ["/audience/users_key", "/audience/users_key"])
      #expect(letters.map { $0["reason"] } == ["invalid_job", "invalid_job"])
      #expect(letters[0]["message"]?.contains("\"no-such-key\" does not exist") == true)
      #expect(letters[1]["message"]?.contains("must be a SET, ZSET or LIST") == true)
    }
  }
}
