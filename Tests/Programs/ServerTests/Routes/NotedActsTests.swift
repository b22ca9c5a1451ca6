import LocalServices
import Model
import Testing

@testable import Server

/// The stream of what operators did.
@Suite struct NotedActsTests {
  @Test("what changes something is noted with who did it, and listed page by page")
  func acts() async throws {
    try await RouteStage.with { stage in
      let none = try await stage.ask(.get, "/v1/acts")
      #expect(none.status == 200 && none["acts"] == .array([]) && none["next"] == .null)
      try await stage.admit("j")
      for number in 1...4 { try await stage.bury("\(number)-0") }
      let jobs = "/v1/apps/shop/jobs/j"
      let letters = "/v1/apps/shop/dead-letters"
      let changes: [(method: APIRequest.Method, path: String, body: String)] = [
        (.post, "\(jobs):pause", ""), (.post, "\(jobs):resume", ""),
        (.patch, jobs, #"{"pace": 7}"#), (.post, "\(jobs):cancel", ""),
        (.post, "\(letters)/1-0:retry", ""), (.delete, "\(letters)/2-0", ""),
        (.post, "\(letters):retry", #"{"up_to": "3-0", "expected_count": 1}"#),
        (.post, "\(letters):drop", #"{"reason": "unknown_app", "expected_count": 1}"#),
        (.put, "/v1/apps/shop/switches/app", #"{"reason": "why"}"#),
        (.delete, "/v1/apps/shop/switches/app", ""),
      ]
      for change in changes {
        let answer = try await stage.ask(change.method, change.path, change.body)
        #expect(answer.status < 300, "\(change.path)")
      }
      // What changes nothing is no act.
      _ = try await stage.ask(.delete, "/v1/apps/shop/switches/app")
      _ = try await stage.ask(.post, "\(jobs):pause")
      let all = try await stage.ask(.get, "/v1/acts")
      #expect(
        all.strings("acts", "verb").reversed() == [
          "job.pause", "job.resume", "job.pace", "job.cancel", "dead.retry", "dead.drop",
          "dead.retry", "dead.drop", "switch.off", "switch.on",
        ])
      #expect(Set(all.strings("acts", "who")) == ["test"])
      #expect(Set(all.strings("acts", "app")) == ["shop"])
      var seen: [String?] = []
      var cursor: String?
      repeat {
        var query = [(name: "limit", value: "3"), (name: "verb", value: "job")]
        if let cursor { query.append((name: "cursor", value: cursor)) }
        let page = try await stage.ask(.get, "/v1/acts", query: query)
        seen += page.strings("acts", "verb")
        cursor = page["next"]?.stringValue
      } while cursor != nil && seen.count < 20
      #expect(seen == ["job.cancel", "job.pace", "job.resume", "job.pause"])
      for cursor in ["x", "", "W10"] {
        let refused = try await stage.ask(
          .get, "/v1/acts", query: [(name: "cursor", value: cursor)])
        #expect(refused.status == 400)
      }
    }
  }

  @Test("an act whose answer is lost is noted as one that may have been done")
  func unanswered() async throws {
    try await RouteStage.with(isProxied: true) { stage in
      let proxy = try #require(stage.proxy)
      await proxy.set(.dropReply(afterReads: 1...1))
      async let answer = stage.ask(.delete, "/v1/apps/shop/switches/app")
      while await proxy.breaks == 0 { await Task.yield() }
      await proxy.set(.none)
      #expect(try await answer.status == 503)
      let acts = try await stage.ask(.get, "/v1/acts")
      #expect(acts.strings("acts", "verb") == ["unanswered"])
      #expect(acts.strings("acts", "subject") == ["DELETE /v1/apps/{app}/switches/app"])
      #expect(acts.strings("acts", "detail") == ["app shop"])
    }
  }

  @Test("what changes nothing is no act")
  func unchanged() async throws {
    try await RouteStage.with { stage in
      try await stage.admit("j")
      for _ in 0..<3 {
        #expect(try await stage.ask(.post, "/v1/apps/shop/jobs/j:pause").status == 200)
      }
      for _ in 0..<3 {
        let paced = try await stage.ask(.patch, "/v1/apps/shop/jobs/j", #"{"pace": 7}"#)
        #expect(paced.status == 200)
      }
      let acts = try await stage.ask(.get, "/v1/acts")
      #expect(acts.strings("acts", "verb") == ["job.pace", "job.pause"])
    }
  }
}
