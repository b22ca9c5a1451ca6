import LocalServices
import Model
import Testing
import TestSupport

@testable import Server

@Suite struct UserRoutesTests {
  private static let pattern = "/v1/apps/{app}/users/{user}/installations"

  @Test("a user's devices are listed and removed, and other users' stay")
  func devices() async throws {
    try await InstallationStage.with { stage in
      for token in ["aa000001", "aa000002", "aa000003"] { try await stage.install("u/1", token) }
      try await stage.install("u2", "bb000001")
      // Half of a binding: its record is gone.
      try await stage.redis.command("DEL", "pushpool:token:apns:shop:aa000002")
      func list(_ user: String, as caller: Caller = InstallationStage.server) async throws
        -> InstallationStage.Answer
      { try await stage.call(.get, Self.pattern, ["user": user], as: caller) }
      let found = try await list("u/1")
      #expect(found.status == 200)
      #expect(
        found.items.compactMap { $0.objectValue?["token"]?.stringValue } == [
          "aa000001", "aa000003",
        ]
      )
      let own = InstallationStage.device("u/1")
      #expect(try await list("u/1", as: own).items.count == 2)
      #expect(try await list("u2", as: own).status == 403)
      func remove(_ user: String, as caller: Caller = InstallationStage.server) async throws -> Int
      {
        try await stage.call(.delete, Self.pattern, ["user": user], as: caller).status
      }
      #expect(try await remove("u2", as: own) == 403)
      #expect(try await remove("u/1", as: own) == 204)
      #expect(try await list("u/1").items.isEmpty)
      #expect(try await stage.redis.command("EXISTS", "pushpool:user:shop:u/1") == "0\n")
      #expect(try await list("u2").items.count == 1)
      #expect(try await remove("u/1") == 204, "it may be repeated")
      #expect(try await list("").status == 422)
      #expect(try await list("a\nb").status == 422)
    }
  }

  @Test("which device of a user went last is told, and to no device")
  func departure() async throws {
    try await InstallationStage.with { stage in
      try await stage.install("u1", "aabbccdd")
      func last(_ user: String, as caller: Caller) async throws -> JSONObject? {
        let answer = try await stage.call(.get, Self.pattern, ["user": user], as: caller)
        #expect(answer.status == 200)
        return answer["last_departure"]?.objectValue
      }
      #expect(try await last("u1", as: InstallationStage.operator) == nil)
      try await stage.install("u2", "aabbccdd")
      for caller in [InstallationStage.operator, InstallationStage.server] {
        let found = try #require(try await last("u1", as: caller))
        #expect(found["cause"] == .string("overwritten") && found["by"] == .string("u2"))
        #expect(found["network"] == .string("apns") && found["token"] == .string("aabbccdd"))
        #expect(found["user"] == nil && found["at"]?.int64Value != nil)
      }
      #expect(try await last("u1", as: InstallationStage.device("u1")) == nil)
      #expect(try await last("u2", as: InstallationStage.operator) == nil)
    }
  }

  @Test("a token's look-up tells who has it, and what became of it")
  func tokens() async throws {
    try await InstallationStage.with { stage in
      func look(
        _ token: String, _ query: [(name: String, value: String)] = []
      ) async throws -> InstallationStage.Answer {
        try await stage.call(
          .get, "/v1/apps/{app}/tokens/{token}", ["token": token], query: query,
          as: InstallationStage.operator)
      }
      #expect(try await look("aabbccdd").items.isEmpty)
      try await stage.install("u1", "aabbccdd")
      try await stage.install("u2", "aabbccdd")
      let found = try await look("AABBCCDD")
      #expect(found.status == 200 && found.items.count == 1)
      let item = try #require(found.items.first?.objectValue)
      #expect(item["user"] == .string("u2") && item["network"] == .string("apns"))
      #expect(item["installation"]?.objectValue?["user"] == .string("u2"))
      #expect(item["departure"]?.objectValue?["cause"] == .string("overwritten"))
      #expect(item["departure"]?.objectValue?["user"] == .string("u1"))
      #expect(try await look("aabbccdd", [("network", "apns")]).items.count == 1)
      #expect(try await look("aabbccdd", [("network", "fcm")]).items.isEmpty)
      #expect(try await look("aabbccdd", [("network", "sms")]).status == 400)
      #expect(try await look("a b").status == 422)
      #expect(try await look("xyz12345", [("network", "apns")]).status == 422)
    }
  }
}
