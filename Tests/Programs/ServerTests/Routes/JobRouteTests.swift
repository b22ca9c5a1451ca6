import Model
import Redis
import Store
import Testing
import Typesetting

@testable import Server

/// Jobs that are looked at and changed.
@Suite struct JobRouteTests {
  private static let path = "/v1/apps/shop/jobs"
  private static let rest =
    #""app": "shop", "audience": {"users": ["a", "b"]}, "notification": {"title": "T"}"#

  @Test("a job is shown with what keeps it, and to whom it goes")
  func shows() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("runs")
      let runs = try await stage.ask(.get, "\(Self.path)/runs")
      #expect(runs.status == 200 && runs["admitted"] == .bool(true))
      #expect(runs["progress_percent"] == .integer(0) && runs["settled"] == .integer(0))
      #expect(runs["audience"] == ["list": .string("users")])
      // No worker beats here.
      #expect(runs.strings("hindrances", "kind") == ["no_worker"])
      #expect(try await stage.ask(.post, "\(Self.path)/runs:pause").status == 200)
      let paused = try await stage.ask(.get, "\(Self.path)/runs")
      #expect(paused.strings("hindrances", "kind") == ["paused"])
      try await stage.enqueue(#"{"id": "waits", "filter": {"network": ["apns"]}, \#(Self.rest)}"#)
      let waits = try await stage.ask(.get, "\(Self.path)/waits")
      #expect(waits["state"] == .string("queued") && waits["admitted"] == .bool(false))
      #expect(waits["audience"] == ["users": .integer(2)])
      #expect(waits["filter"] == ["network": .array([.string("apns")])])
      #expect(waits["progress_percent"] == nil)
    }
  }

  @Test("the words of a job are shown as far as they are kept")
  func content() async throws {
    try await RouteStage.with { stage in
      try await stage.enqueue(#"{"id": "waits", \#(Self.rest)}"#)
      let waits = try await stage.ask(.get, "\(Self.path)/waits/content")
      #expect(waits["content"] == ["notification": ["title": .string("T")]])
      #expect(waits["audience"] == ["users": .integer(2)])
      try await stage.run { store throws(RedisError) in
        _ = try await store.connection.call(
          RedisCommand(
            "HSET", store.keys.job(app: "shop", id: "old"), "state", "done", "admitted", "1"))
      }
      let old = try await stage.ask(.get, "\(Self.path)/old/content")
      #expect(old.status == 200 && old["content"] == .null)
      #expect(try await stage.ask(.get, "\(Self.path)/none/content").status == 404)
    }
  }

  @Test("a job that nobody has is unknown, one that has ended and is not kept is gone")
  func unknown() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("over")
      try await stage.end("over")
      try await stage.run { store throws(RedisError) in
        _ = try await store.connection.call(
          RedisCommand("DEL", store.keys.job(app: "shop", id: "over")))
      }
      for (id, status) in [("over", 410), ("none", 404), ("a%20b", 422)] {
        let path = "\(Self.path)/\(id)"
        #expect(try await stage.ask(.get, path).status == status)
        #expect(try await stage.ask(.get, "\(path)/content").status == status)
        #expect(try await stage.ask(.get, "\(path)/trace").status == status)
        for verb in ["cancel", "pause", "resume"] {
          #expect(try await stage.ask(.post, "\(path):\(verb)").status == status)
        }
        #expect(try await stage.ask(.patch, path, #"{"pace": 5}"#).status == status)
        let moved = try await stage.ask(.post, "\(path):reschedule", #"{"deliver_at": null}"#)
        #expect(moved.status == status)
      }
    }
  }

  @Test("a job that its worker will refuse is shown with the rule, and cannot be changed")
  func doomed() async throws {
    try await RouteStage.with { stage in
      try await stage.enqueue(#"{"id": "bad", "extra": 1, \#(Self.rest)}"#)
      let shown = try await stage.ask(.get, "\(Self.path)/bad")
      #expect(shown.status == 200 && shown["state"] == .string("queued"))
      #expect(shown["fault"]?.objectValue?["field"] == .string("/extra"))
      let paused = try await stage.ask(.post, "\(Self.path)/bad:pause")
      #expect(paused.status == 409)
      #expect(paused["detail"]?.stringValue?.contains("/extra") == true)
      #expect(try await stage.ask(.get, "\(Self.path)/bad/content").status == 409)
    }
  }

  @Test("a job is paused, resumed, given a pace and cancelled, each as often as one likes")
  func changes() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("j")
      for _ in 0..<2 {
        let answer = try await stage.ask(.post, "\(Self.path)/j:pause")
        #expect(answer.status == 200 && answer["state"] == .string("paused"))
      }
      for _ in 0..<2 {
        let answer = try await stage.ask(.post, "\(Self.path)/j:resume")
        #expect(answer.status == 200 && answer["state"] != .string("paused"))
      }
      let paced = try await stage.ask(.patch, "\(Self.path)/j", #"{"pace": 500}"#)
      #expect(paced.status == 200 && paced["pushes_per_second"] == .integer(500))
      let unpaced = try await stage.ask(.patch, "\(Self.path)/j", #"{"pace": null}"#)
      #expect(unpaced.status == 200 && unpaced["pushes_per_second"] == nil)
      for body in [
        #"{"pace": 0}"#, #"{"pace": "1"}"#, #"{"pace": 1.5}"#, "{}", #"{"pace": 1, "x": 1}"#, "[]",
      ] {
        #expect(try await stage.ask(.patch, "\(Self.path)/j", body).status == 422, "\(body)")
      }
      #expect(try await stage.ask(.patch, "\(Self.path)/j", "").status == 400)
      for _ in 0..<2 {
        let answer = try await stage.ask(.post, "\(Self.path)/j:cancel")
        #expect(answer.status == 200 && answer["state"] == .string("cancelled"))
      }
      let late = try await stage.ask(.post, "\(Self.path)/j:pause")
      #expect(late.status == 409 && late["state"] == .string("cancelled"))
      #expect(try await stage.ask(.patch, "\(Self.path)/j", #"{"pace": 5}"#).status == 409)
    }
  }

  @Test("a job that waits for its start is told another one, and any other is left as it is")
  func reschedules() async throws {
    try await RouteStage.with { stage in
      let dayMs: Int64 = 86_400_000
      let startMs = InstantText.nowMs() + dayMs
      try await stage.admit("j", startAtMs: startMs)
      let path = "\(Self.path)/j:reschedule"
      for _ in 0..<2 {
        let moved = try await stage.ask(.post, path, #"{"deliver_at": \#(startMs + dayMs)}"#)
        #expect(moved.status == 200 && moved["state"] == .string("scheduled"))
        #expect(moved["start_at"] == .integer(startMs + dayMs))
      }
      let text = InstantText.rfc3339(ms: startMs + 2 * dayMs)
      let named = try await stage.ask(.post, path, #"{"deliver_at": "\#(text)"}"#)
      #expect(named.status == 200 && named["start_at"] == .integer(startMs + 2 * dayMs))
      for body in [
        #"{"deliver_at": "soon"}"#, #"{"deliver_at": 5}"#, #"{"deliver_at": true}"#, "{}",
        #"{"deliver_at": null, "x": 1}"#, #"{"deliver_at": \#(startMs + 400 * dayMs)}"#,
      ] {
        #expect(try await stage.ask(.post, path, body).status == 422, "\(body)")
      }
      #expect(try await stage.ask(.post, path, "").status == 400)
      let acts = try await stage.ask(.get, "/v1/acts")
      // The repeated one changed nothing.
      #expect(acts.strings("acts", "verb") == ["job.reschedule", "job.reschedule"])
      #expect(acts.strings("acts", "detail").first == text)

      let now = try await stage.ask(.post, path, #"{"deliver_at": null}"#)
      #expect(now.status == 200 && now["state"] == .string("scheduled"))
      try await stage.admit("runs")
      try await stage.enqueue(#"{"id": "waits", \#(Self.rest)}"#)
      for (id, words) in [("runs", "it has started"), ("waits", "no worker has taken it in")] {
        let refused = try await stage.ask(
          .post, "\(Self.path)/\(id):reschedule", #"{"deliver_at": null}"#)
        #expect(refused.status == 409)
        #expect(refused["detail"]?.stringValue?.contains(words) == true, "\(refused)")
      }
      try await stage.end("runs")
      let late = try await stage.ask(
        .post, "\(Self.path)/runs:reschedule", #"{"deliver_at": null}"#)
      #expect(late.status == 409, "\(late)")
      #expect(late["detail"]?.stringValue?.contains("it has ended") == true, "\(late)")
    }
  }

  @Test("a job that waits for a worker is changed as well")
  func changesWaiting() async throws {
    try await RouteStage.with { stage in
      try await stage.enqueue(#"{"id": "a:b", \#(Self.rest)}"#)
      let answer = try await stage.ask(.post, "\(Self.path)/a:b:cancel")
      #expect(answer.status == 200 && answer["state"] == .string("cancelled"))
      #expect(answer["id"] == .string("a:b"))
    }
  }

  @Test("jobs are listed page by page, those that run first and those that ended last")
  func lists() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("gone")
      try await stage.end("gone")
      try await stage.admit("later", startAtMs: 4_000_000_000_000)
      for id in ["r1", "r2", "r3"] { try await stage.admit(id) }
      try await stage.admit("x1", app: "other")
      let all = try await stage.ask(.get, Self.path)
      let ids = all.strings("jobs", "id")
      #expect(Set(ids.prefix(3)) == ["r1", "r2", "r3"] && ids.dropFirst(3) == ["later", "gone"])
      #expect(all["next"] == .null && all.header("link") == nil)
      var seen: [String?] = []
      var cursor: String?
      repeat {
        var query = [(name: "limit", value: "2")]
        if let cursor { query.append((name: "cursor", value: cursor)) }
        let page = try await stage.ask(.get, Self.path, query: query)
        #expect(page.status == 200)
        seen += page.strings("jobs", "id")
        cursor = page["next"]?.stringValue
        if let cursor {
          #expect(
            page.header("link")
              == "</v1/apps/shop/jobs?limit=2&cursor=\(cursor)>; rel=\"next\"")
        }
      } while cursor != nil && seen.count < 20
      #expect(seen == ids)
      let fleet = try await stage.ask(.get, "/v1/jobs", query: [(name: "state", value: "open")])
      #expect(Set(fleet.strings("jobs", "id")) == ["r1", "r2", "r3", "later", "x1"])
      let ended = try await stage.ask(.get, Self.path, query: [(name: "state", value: "ended")])
      #expect(ended.strings("jobs", "id") == ["gone"])
      let filtered = try await stage.ask(
        .get, Self.path, query: [(name: "state", value: "scheduled")])
      #expect(filtered.strings("jobs", "id") == ["later"])
    }
  }

  @Test("a list takes no other state, limit or cursor than there is")
  func refusesQueries() async throws {
    try await RouteStage.with { stage in
      let foreign = ListCursor(ListCursor.List(name: "letters1", valuesMax: 1), [.string("1-0")])
      for (name, value) in [
        ("state", "refused"), ("state", ""), ("limit", "0"), ("limit", "201"), ("limit", "x"),
        ("cursor", ""), ("cursor", "x"), ("cursor", foreign.text), ("cursor", "WyJqb2JzMSJd"),
      ] {
        let answer = try await stage.ask(.get, Self.path, query: [(name: name, value: value)])
        #expect(answer.status == 400, "\(name)=\(value)")
      }
    }
  }

  @Test("a trace is of everybody, of a user or of a token")
  func traces() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("j")
      let path = "\(Self.path)/j/trace"
      let whole = try await stage.ask(.get, path)
      #expect(whole.status == 200 && whole["counts"] == .array([]))
      #expect(whole["job"]?.objectValue?["id"] == .string("j"))
      let user = try await stage.ask(.get, path, query: [(name: "user", value: "u1")])
      #expect(user["conclusions"]?.arrayValue?.count == 1)
      let token = try await stage.ask(.get, path, query: [(name: "token", value: "aabbccdd")])
      #expect(token.status == 200 && token["conclusions"] != nil)
      let both = [(name: "user", value: "u1"), (name: "token", value: "aabbccdd")]
      #expect(try await stage.ask(.get, path, query: both).status == 400)
      #expect(try await stage.ask(.get, path, query: [(name: "user", value: "")]).status == 400)
      let limit = [(name: "limit", value: "201")]
      #expect(try await stage.ask(.get, path, query: limit).status == 400)
      try await stage.enqueue(#"{"id": "waits", \#(Self.rest)}"#)
      let waits = try await stage.ask(.get, "\(Self.path)/waits/trace")
      #expect(waits.status == 200 && waits["events"] == .array([]))
    }
  }
}
