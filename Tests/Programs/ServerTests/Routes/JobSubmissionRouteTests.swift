import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import TestSupport
import Testing

@testable import Server

/// Jobs that backends add.
@Suite struct JobSubmissionRouteTests {
  private static let path = "/v1/apps/shop/jobs"
  private static let rest = #""audience": {"users": ["a"]}, "notification": {"body": "x"}"#

  @Test("a job is queued by its priority, and the answer says where it is")
  func adds() async throws {
    try await RouteStage.with { stage in
      let answer = try await stage.ask(
        .post, Self.path, query: [(name: "priority", value: "high")],
        #"{"id": "a:b", "app": "shop", \#(Self.rest)}"#)
      #expect(answer.status == 202)
      #expect(answer.json == ["id": .string("a:b"), "state": .string("queued")])
      #expect(answer.header("location") == "/v1/apps/shop/jobs/a%3Ab")
      #expect(answer.header("idempotent-replayed") == nil)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status().jobs
      }
      #expect(jobs[.high] == 1 && jobs[.normal] ?? 0 == 0)
      #expect(try await stage.ask(.get, "/v1/apps/shop/jobs/a%3Ab").status == 200)
    }
  }

  @Test("a job without app and id gets those of the path and of the server")
  func completes() async throws {
    try await RouteStage.with { stage in
      let first = try await stage.ask(.post, Self.path, "{\(Self.rest)}")
      let second = try await stage.ask(.post, Self.path, "{\(Self.rest)}")
      #expect(first.status == 202 && second.status == 202)
      let ids = [first, second].compactMap { $0["id"]?.stringValue }
      #expect(ids.count == 2 && ids[0] != ids[1] && ids.allSatisfy { $0.utf8.count == 33 })
      let shown = try await stage.ask(.get, "\(Self.path)/\(ids[0])")
      #expect(shown["app"] == .string("shop") && shown["state"] == .string("queued"))
    }
  }

  @Test("the same job again is told so, another one of its id is refused")
  func replays() async throws {
    try await RouteStage.with { stage in
      let job = #"{"id": "j", \#(Self.rest)}"#
      #expect(try await stage.ask(.post, Self.path, job).status == 202)
      let again = try await stage.ask(.post, Self.path, job)
      #expect(again.status == 202 && again.header("idempotent-replayed") == "true")
      #expect(again["state"] == .string("queued"))
      // Only the order and the spaces differ.
      let respelt = try await stage.ask(
        .post, Self.path, #"{\#(Self.rest),   "id": "j", "app": "shop"}"#)
      #expect(respelt.header("idempotent-replayed") == "true")
      let other = try await stage.ask(
        .post, Self.path, #"{"id": "j", "ttl_seconds": 9, \#(Self.rest)}"#)
      #expect(other.status == 409 && other.pointers == ["/id"])
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status().jobs
      }
      #expect(jobs[.normal] == 1)
    }
  }

  @Test("a large job is told apart from another of its id, too")
  func large() async throws {
    try await RouteStage.with { stage in
      let users = (0..<25_000).map { "\"user-\($0)\"" }.joined(separator: ",")
      func job(_ body: String) -> String {
        #"{"id": "j", "audience": {"users": [\#(users)]}, "notification": {"body": "\#(body)"}}"#
      }
      let first = try await stage.ask(.post, Self.path, job("x"))
      #expect(first.status == 202 && first.header("idempotent-replayed") == nil)
      let again = try await stage.ask(.post, Self.path, job("x"))
      #expect(again.status == 202 && again.header("idempotent-replayed") == "true")
      #expect(try await stage.ask(.post, Self.path, job("y")).status == 409)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status().jobs
      }
      #expect(jobs[.normal] == 1)
    }
  }

  @Test("the key of the header is the id of a job without one")
  func keys() async throws {
    try await RouteStage.with { stage in
      for key in ["k-1", "\"k-1\""] {
        let answer = try await stage.ask(
          .post, Self.path, headers: ["idempotency-key": key], "{\(Self.rest)}")
        #expect(answer.status == 202 && answer["id"] == .string("k-1"))
        #expect(answer.header("idempotent-replayed") == (key == "k-1" ? nil : "true"))
      }
      let same = try await stage.ask(
        .post, Self.path, headers: ["idempotency-key": "k-2"], #"{"id": "k-2", \#(Self.rest)}"#)
      #expect(same.status == 202)
      let differs = try await stage.ask(
        .post, Self.path, headers: ["idempotency-key": "k-3"], #"{"id": "k-4", \#(Self.rest)}"#)
      #expect(differs.status == 422 && differs.pointers == ["/id"])
      for key in ["", "a b", String(repeating: "k", count: 129), "\"\"", "ü"] {
        let answer = try await stage.ask(
          .post, Self.path, headers: ["idempotency-key": key], "{\(Self.rest)}")
        #expect(answer.status == 400, "\(key)")
      }
    }
  }

  @Test(
    "a job that breaks a rule is refused with the place of the fault",
    arguments: [
      (#"{"audience": {"users": []}, "notification": {"body": "x"}}"#, 422, "/audience/users"),
      (#"{"app": "other", \#(rest)}"#, 422, "/app"), (#"{"app": 1, \#(rest)}"#, 422, "/app"),
      (#"{"id": "a b", \#(rest)}"#, 422, "/id"), (#"{"id": null, \#(rest)}"#, 422, "/id"),

      (#"{"id": "..", \#(rest)}"#, 422, "/id"), (#"{"extra": 1, \#(rest)}"#, 422, "/extra"),
      ("[]", 422, ""), ("", 400, nil),
      ("{", 400, nil),
      (
        #"{"audience": {"users_key": "segment:shop:nowhere"}, "notification": {"body": "x"}}"#, 422,
        "/audience/users_key"
      ),
    ] as [(String, Int, String?)])
  func refuses(job: String, status: Int, pointer: String?) async throws {
    try await RouteStage.with { stage in
      let answer = try await stage.ask(.post, Self.path, job)
      #expect(answer.status == status)
      #expect(answer.pointers.first ?? nil == pointer)
      #expect(answer["detail"]?.stringValue?.isEmpty == false)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status().jobs
      }
      #expect(jobs[.normal] ?? 0 == 0)
    }
  }

  /// Keys that the server's Redis user may read, and a job of the app may not name.
  private static let foreignKeys = [
    "pushpool:user:other:alice", "pushpool:index:other", "pushpool:keys", "segment:other:vip",
    "values:other:vip", "segment:shop", "vip", "Segment:shop:vip",
  ]

  @Test("a job names keys of its own app only, and so does a job that is only looked at")
  func ownKeys() async throws {
    try await RouteStage.with(Configuration(apps: [AppConfiguration(id: "shop")])) { stage in
      for key in ["segment:shop:vip", "segment:other:vip", "vip"] {
        _ = try await stage.server.command("SADD", key, "a")
      }
      for key in ["values:shop:spring", "values:other:vip"] {
        _ = try await stage.server.command("HSET", key, "a", "{}")
      }
      for key in Self.foreignKeys {
        let audience = #"{"audience": {"users_key": "\#(key)"}, "notification": {"body": "x"}}"#
        let variables = #"{"variables_key": "\#(key)", \#(Self.rest)}"#
        for (job, pointer) in [(audience, "/audience/users_key"), (variables, "/variables_key")] {
          let added = try await stage.ask(.post, Self.path, job)
          #expect(added.status == 422 && added.pointers == [pointer], "\(key)")
          // Whether the key is there, and of what kind, is not told.
          let text = added.strings("errors", "detail").first ?? nil
          #expect(text?.contains("of its own app only") == true, "\(key)")
          let shown = try await stage.ask(
            .post, "\(Self.path):preview", #"{"user": "a", "job": \#(job)}"#)
          #expect(shown.status == 422 && shown.pointers == ["/job\(pointer)"], "\(key)")
        }
      }
      let own = try await stage.ask(
        .post, Self.path,
        #"{"audience": {"users_key": "segment:shop:vip"}, "variables_key": "values:shop:spring", "#
          + #""notification": {"body": "x"}}"#)
      #expect(own.status == 202)
    }
  }

  @Test("an app that can be none, a priority that is none and an unknown app are refused")
  func refusesPaths() async throws {
    let configuration = Configuration(apps: [AppConfiguration(id: "shop")])
    try await RouteStage.with(configuration) { stage in
      let job = "{\(Self.rest)}"
      let urgent = [(name: "priority", value: "urgent")]
      let twice = [(name: "priority", value: "low"), (name: "priority", value: "low")]
      for (path, query, status) in [
        ("/v1/apps/sh%20op/jobs", [], 422), ("/v1/apps/other/jobs", [], 404),
        (Self.path, urgent, 400), (Self.path, twice, 400),
      ] {
        let answer = try await stage.ask(.post, path, query: query, job)
        #expect(answer.status == status, "\(path)")
      }
    }
  }

  @Test("without Redis the answer says when to try again, and that nothing is added twice")
  func away() async throws {
    try await RouteStage.with { stage in
      await stage.server.close()
      let answer = try await stage.ask(.post, Self.path, #"{"id": "j", \#(Self.rest)}"#)
      #expect(answer.status == 503 && answer.header("retry-after") != nil)
    }
  }

  /// Adds a job while the answer to its submission is lost, after which the connection works again, or does not.
  private static func addWithLoss(
    _ stage: RouteStage, _ job: String, isMended: Bool
  ) async throws -> RouteStage.Answer {
    let proxy = try #require(stage.proxy)
    // The first reply tells whether the id is free.
    await proxy.set(.dropReply(afterReads: 2...2))
    async let answer = stage.ask(.post, path, job)
    while await proxy.breaks == 0 { await Task.yield() }
    if isMended { await proxy.set(.none) }
    let found = try await answer
    await proxy.set(.none)
    return found
  }

  @Test("a job whose answer is lost is added once", arguments: [#""id": "j", "#, ""])
  func survivesLoss(id: String) async throws {
    try await RouteStage.with(isProxied: true) { stage in
      let answer = try await Self.addWithLoss(stage, "{\(id)\(Self.rest)}", isMended: true)
      #expect(answer.status == 202 && answer["state"] == .string("queued"))
      #expect(answer.header("idempotent-replayed") == nil)
      let jobs = try await stage.run { store throws(RedisError) in
        try await store.backlog.status().jobs
      }
      #expect(jobs[.normal] == 1)
    }
  }

  @Test("where no answer comes at all, the caller is told how to ask again without harm")
  func uncertain() async throws {
    try await RouteStage.with(isProxied: true) { stage in
      let named = try await Self.addWithLoss(
        stage, #"{"id": "j", \#(Self.rest)}"#, isMended: false)
      #expect(named.status == 503 && named.header("retry-after") != nil)
      #expect(named["id"] == .string("j"))
      #expect(named["detail"]?.stringValue?.contains("send the same request again") == true)
    }
    try await RouteStage.with(isProxied: true) { stage in
      let unnamed = try await Self.addWithLoss(stage, "{\(Self.rest)}", isMended: false)
      let id = try #require(unnamed["id"]?.stringValue)
      #expect(unnamed["detail"]?.stringValue?.contains("Idempotency-Key: \(id)") == true)
    }
  }
}
