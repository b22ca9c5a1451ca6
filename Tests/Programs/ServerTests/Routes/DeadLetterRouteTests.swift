import LocalServices
import Model
import Redis
import Store
import Testing

@testable import Server

/// Dead letters, which operators look at, retry and drop.
@Suite struct DeadLetterRouteTests {
  private static let path = "/v1/apps/shop/dead-letters"

  @Test("an app has its own letters, the fleet has all")
  func scopes() async throws {
    try await RouteStage.with { stage in
      try await stage.bury("1-0")
      try await stage.bury("2-0", app: "other")
      try await stage.bury("3-0", app: "", reason: "invalid_job")
      let own = try await stage.ask(.get, Self.path)
      #expect(own.status == 200 && own.strings("letters", "entry") == ["1-0"])
      #expect(own.strings("letters", "job") == [nil])
      let all = try await stage.ask(.get, "/v1/dead-letters")
      #expect(all.strings("letters", "entry") == ["1-0", "2-0", "3-0"])
      let nameless = try await stage.ask(
        .get, "/v1/dead-letters", query: [(name: "app", value: "")])
      #expect(nameless.strings("letters", "entry") == ["3-0"])
      #expect(try await stage.ask(.get, "\(Self.path)/1-0")["job"] == .string("{}"))
      for (path, status) in [
        ("\(Self.path)/2-0", 404), ("\(Self.path)/3-0", 404), ("\(Self.path)/9-0", 404),
        ("\(Self.path)/x", 422), ("\(Self.path)/01-0", 422), ("\(Self.path)/0-0", 422),
        ("/v1/dead-letters/3-0", 200),
        // The only shard may be named or not.
        ("\(Self.path)/main%2F1-0", 200), ("\(Self.path)/eu%2F1-0", 422),
        ("\(Self.path)/main%2F9-0", 404), ("\(Self.path)/main/1-0", 404),
      ] {
        #expect(try await stage.ask(.get, path).status == status, "\(path)")
      }
      // A letter of another app is neither retried nor dropped.
      #expect(try await stage.ask(.post, "\(Self.path)/2-0:retry").status == 404)
      #expect(try await stage.ask(.delete, "\(Self.path)/2-0").status == 404)
      let left = try await stage.ask(.get, "/v1/dead-letters")
      #expect(left["letters"]?.arrayValue?.count == 3)
    }
  }

  @Test("letters are listed page by page, and by their reason and kind")
  func pages() async throws {
    try await RouteStage.with { stage in
      for number in 1...7 {
        try await stage.bury("\(number)-0", reason: number % 2 == 0 ? "even" : "odd")
      }
      try await stage.bury("8-0", reason: "odd", kind: "chunk")
      var seen: [String?] = []
      var cursor: String?
      repeat {
        var query = [(name: "reason", value: "odd"), (name: "limit", value: "2")]
        if let cursor { query.append((name: "cursor", value: cursor)) }
        let page = try await stage.ask(.get, Self.path, query: query)
        seen += page.strings("letters", "entry")
        cursor = page["next"]?.stringValue
        if let cursor {
          #expect(
            page.header("link")
              == "<\(Self.path)?reason=odd&limit=2&cursor=\(cursor)>; rel=\"next\"")
        }
      } while cursor != nil && seen.count < 20
      #expect(seen == ["1-0", "3-0", "5-0", "7-0", "8-0"])
      let chunks = try await stage.ask(.get, Self.path, query: [(name: "kind", value: "chunk")])
      #expect(chunks.strings("letters", "entry") == ["8-0"])
      for (name, value) in [("kind", "x"), ("cursor", "x"), ("limit", "0")] {
        let answer = try await stage.ask(.get, Self.path, query: [(name: name, value: value)])
        #expect(answer.status == 400)
      }
      // A misspelt field would widen what is meant.
      let misspelt = try await stage.ask(.get, Self.path, query: [(name: "reson", value: "odd")])
      #expect(misspelt.status == 400)
      #expect(misspelt["detail"]?.stringValue?.contains("did you mean \"reason\"") == true)
      let long = [(name: "reason", value: String(repeating: "x", count: 257))]
      #expect(try await stage.ask(.get, Self.path, query: long).status == 400)
    }
  }

  @Test("letters are counted by app and reason, the largest group first")
  func counts() async throws {
    try await RouteStage.with { stage in
      let none = try await stage.ask(.get, "\(Self.path):summary")
      #expect(none["count"] == .integer(0) && none["up_to"] == .null)
      #expect(none["complete"] == .bool(true))
      for number in 1...3 { try await stage.bury("\(number)-0", reason: "a") }
      try await stage.bury("4-0", reason: "b")
      try await stage.bury("5-0", app: "other", reason: "a")
      let own = try await stage.ask(.get, "\(Self.path):summary")
      #expect(own["count"] == .integer(4) && own["looked_at"] == .integer(5))
      #expect(own.strings("groups", "reason") == ["a", "b"])
      #expect(own.strings("groups", "first") == ["1-0", "4-0"])
      #expect(own.strings("groups", "last") == ["3-0", "4-0"])
      let all = try await stage.ask(.get, "/v1/dead-letters:summary")
      #expect(all["count"] == .integer(5) && all["groups"]?.arrayValue?.count == 3)
      #expect(all["up_to"] == .string("5-0"))
    }
  }

  @Test("a letter is retried or dropped once")
  func one() async throws {
    try await RouteStage.with { stage in
      for number in 1...3 { try await stage.bury("\(number)-0", job: number == 3 ? "" : "{}") }
      let retried = try await stage.ask(.post, "\(Self.path)/1-0:retry")
      #expect(retried.status == 200 && retried["entry"]?.stringValue?.contains("-") == true)
      #expect(try await stage.ask(.post, "\(Self.path)/1-0:retry").status == 404)
      #expect(try await stage.ask(.delete, "\(Self.path)/2-0").status == 204)
      #expect(try await stage.ask(.delete, "\(Self.path)/2-0").status == 404)
      #expect(try await stage.ask(.post, "\(Self.path)/3-0:retry").status == 409)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status()
      }
      #expect(jobs.jobs[.normal] == 1 && jobs.dead == 1)
    }
  }

  @Test("the letters of a filter are dealt with only when there are as many as were seen")
  func many() async throws {
    try await RouteStage.with { stage in
      for number in 1...4 { try await stage.bury("\(number)-0", reason: "a") }
      try await stage.bury("5-0", reason: "a", job: "")
      try await stage.bury("6-0", reason: "b")
      try await stage.bury("7-0", app: "other", reason: "a")
      let wrong = try await stage.ask(
        .post, "\(Self.path):retry", #"{"reason": "a", "expected_count": 4}"#)
      #expect(wrong.status == 409 && wrong["count"] == .integer(5))
      // A letter that came after the look is not meant.
      let first = try await stage.ask(
        .post, "\(Self.path):retry", #"{"reason": "a", "up_to": "2-0", "expected_count": 2}"#)
      #expect(first.status == 200 && first["retried"] == .integer(2))
      #expect(first["last"] == .string("2-0") && first["left"] == .integer(0))
      let rest = try await stage.ask(
        .post, "\(Self.path):retry", #"{"reason": "a", "after": "main/2-0", "expected_count": 3}"#)
      #expect(rest["retried"] == .integer(2) && rest["refused_count"] == .integer(1))
      #expect(rest.strings("refused", "entry") == ["5-0"] && rest["left"] == .integer(0))
      let dropped = try await stage.ask(.post, "\(Self.path):drop", #"{"expected_count": 2}"#)
      #expect(dropped["dropped"] == .integer(2) && dropped["refused"] == nil)
      let other = try await stage.ask(
        .post, "/v1/dead-letters:drop", #"{"app": "other", "expected_count": 1}"#)
      #expect(other["dropped"] == .integer(1))
      let none = try await stage.ask(.post, "/v1/dead-letters:drop", #"{"expected_count": 0}"#)
      #expect(none.status == 200 && none["last"] == .null)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status()
      }
      #expect(jobs.jobs[.normal] == 4 && jobs.dead == 0)
    }
  }

  @Test("a letter that another program wrote keeps no other from being retried")
  func foreign() async throws {
    try await RouteStage.with { stage in
      try await stage.bury("1-0")
      for fields in [["a", "b"], ["kind", "job", "job", "{}"], ["kind", "chunk", "app", "shop"]] {
        _ = try await stage.run { store throws(RedisError) in
          var command = RedisCommand("XADD", store.keys.dead, "2-*")
          for field in fields { command.append(field) }
          return try await store.connection.call(command)
        }
      }
      try await stage.bury("3-0")
      let answer = try await stage.ask(
        .post, "/v1/dead-letters:retry", #"{"expected_count": 5}"#)
      #expect(answer["retried"] == .integer(2) && answer["refused_count"] == .integer(3))
      #expect(answer["left"] == .integer(0) && answer["last"] == .string("3-0"))
      #expect(try await stage.ask(.post, "/v1/dead-letters/2-0:retry").status == 409)
    }
  }

  @Test("when Redis goes midway, the answer says how far it came, and the act is noted")
  func midway() async throws {
    try await RouteStage.with(isProxied: true) { stage in
      for number in 1...40 { try await stage.bury("\(number)-0", reason: "a") }
      let proxy = try #require(stage.proxy)
      await proxy.set(.dropReply(afterReads: 8...8))
      let answer = try await stage.ask(.post, "\(Self.path):drop", #"{"expected_count": 40}"#)
      await proxy.set(.none)
      let dropped = try #require(answer["dropped"]?.int64Value)
      #expect(answer.status == 200 && (1..<40).contains(dropped))
      #expect(answer["left"] == .integer(40 - dropped))
      #expect(answer["last"] == .string("\(dropped)-0"))
      let acts = try await stage.ask(.get, "/v1/acts")
      #expect(acts.strings("acts", "verb") == ["dead.drop"])
    }
  }

  @Test(
    "a body that breaks a rule is refused",
    arguments: [
      ("{}", "/expected_count"), (#"{"expected_count": -1}"#, "/expected_count"),
      (#"{"expected_count": "1"}"#, "/expected_count"), (#"{"expected_count": 1, "x": 1}"#, "/x"),
      (#"{"expected_count": 1, "app": "shop"}"#, "/app"),
      (#"{"expected_count": 1, "kind": "x"}"#, "/kind"),
      (#"{"expected_count": 1, "reason": 1}"#, "/reason"),
      (#"{"expected_count": 1, "after": "x"}"#, "/after"),
      (#"{"expected_count": 1, "up_to": "1"}"#, "/up_to"),
      (#"{"expected_count": 1, "up_to": "eu/1-0"}"#, "/up_to"), ("[]", ""),
    ])
  func refuses(body: String, pointer: String) async throws {
    try await RouteStage.with { stage in
      for verb in ["retry", "drop"] {
        let answer = try await stage.ask(.post, "\(Self.path):\(verb)", body)
        #expect(answer.status == 422 && answer.pointers == [pointer])
      }
    }
  }
}
