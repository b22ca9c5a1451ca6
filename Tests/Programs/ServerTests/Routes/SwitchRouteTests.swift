import Model
import Redis
import Store
import Testing

@testable import Server

/// Switches by which operators stop what is sent.
@Suite struct SwitchRouteTests {
  private static let path = "/v1/apps/shop/switches"

  @Test(
    "whatever has a switch is switched off with a reason, shown, and switched on again",
    arguments: [
      ("app", "app|shop"), ("network/fcm", "network|shop|fcm"), ("user/a%2Fb", "user|shop|a/b"),
      ("bucket/orders", "bucket|shop|orders"), ("topic/news", "topic|shop|news"),
    ])
  func one(thing: String, field: String) async throws {
    try await RouteStage.with { stage in
      let path = "\(Self.path)/\(thing)"
      let on = try await stage.ask(.get, path)
      #expect(on.status == 200 && on["off"] == .bool(false) && on["switch"] == .string(field))
      let off = try await stage.ask(.put, path, #"{"reason": "wrong text"}"#)
      #expect(off.status == 200 && off["off"] == .bool(true))
      #expect(off["reason"] == .string("wrong text") && off["since"] != nil)
      let again = try await stage.ask(.put, path, "{}")
      #expect(again.status == 200 && again["reason"] == .string("wrong text"))
      let shown = try await stage.ask(.get, path)
      #expect(shown.json == again.json)
      let list = try await stage.ask(.get, Self.path)
      #expect(list.strings("switches", "switch") == [field])
      #expect(list["overfull"] == .bool(false))
      for _ in 0..<2 { #expect(try await stage.ask(.delete, path).status == 204) }
      #expect(try await stage.ask(.get, path)["off"] == .bool(false))
    }
  }

  @Test("an app lists its own switches, the fleet all, with those that nobody knows")
  func lists() async throws {
    try await RouteStage.with { stage in
      for app in ["shop", "other"] {
        #expect(try await stage.ask(.put, "/v1/apps/\(app)/switches/app", "{}").status == 200)
      }
      try await stage.run { store throws(RedisError) in
        _ = try await store.connection.call(
          RedisCommand("HSET", store.keys.switches, "galaxy|shop", "x"))
      }
      let own = try await stage.ask(.get, Self.path)
      #expect(own.strings("switches", "app") == ["shop"] && own["unknown"] == nil)
      let all = try await stage.ask(.get, "/v1/switches")
      #expect(all.strings("switches", "app") == ["other", "shop"])
      #expect(all["unknown"] == .array([.string("galaxy|shop")]))
    }
  }

  @Test("a path or a body that breaks a rule is refused")
  func refuses() async throws {
    try await RouteStage.with { stage in
      for (thing, status) in [
        ("network/x", 422), ("topic/a%20b", 422), ("user/a%0Ab", 422),
        ("bucket/" + String(repeating: "b", count: 257), 422), ("galaxy/x", 404), ("user", 404),
      ] {
        let path = "\(Self.path)/\(thing)"
        for (method, body) in [(APIRequest.Method.put, "{}"), (.get, ""), (.delete, "")] {
          let answer = try await stage.ask(method, path, body)
          #expect(answer.status == status, "\(method) \(path)")
        }
      }
      let long = String(repeating: "x", count: StoreLimits.switchReasonBytesMax + 1)
      for (body, status) in [
        (#"{"reason": 1}"#, 422), (#"{"reason": "\#(long)"}"#, 422), (#"{"x": 1}"#, 422),
        ("", 400),
      ] {
        #expect(try await stage.ask(.put, "\(Self.path)/app", body).status == status)
      }
      #expect(try await stage.ask(.get, Self.path)["switches"] == .array([]))
    }
  }

  @Test("as many are off as are honoured")
  func full() async throws {
    try await RouteStage.with { stage in
      try await stage.run { store throws(RedisError) in
        var command = RedisCommand("HSET", store.keys.switches)
        for number in 0..<StoreLimits.switchesMax {
          command.append("user|shop|u\(number)")
          command.append("x")
        }
        _ = try await store.connection.call(command)
      }
      #expect(try await stage.ask(.put, "\(Self.path)/app", "{}").status == 409)
    }
  }
}
