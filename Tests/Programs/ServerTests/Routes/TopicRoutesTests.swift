import LocalServices
import Model
import Testing
import TestSupport

@testable import Server

@Suite struct TopicRoutesTests {
  private static let pattern = "/v1/apps/{app}/topics/{topic}/users/{user}"

  private static func sizes(_ answer: InstallationStage.Answer) -> [String] {
    answer.items.compactMap { item in
      guard let name = item.objectValue?["name"]?.stringValue,
        let users = item.objectValue?["users"]?.int64Value
      else { return nil }
      return "\(name) \(users)"
    }
  }

  @Test("a user subscribes and unsubscribes, each as often as asked, and a device itself only")
  func subscriptions() async throws {
    try await InstallationStage.with { stage in
      func call(
        _ method: APIRequest.Method, _ topic: String, _ user: String,
        as caller: Caller = InstallationStage.server
      ) async throws -> Int {
        try await stage.call(
          method, Self.pattern, ["topic": topic, "user": user], as: caller
        ).status
      }
      func topics() async throws -> [String] {
        Self.sizes(try await stage.call(.get, "/v1/apps/{app}/topics", [:]))
      }
      for _ in 0..<2 { #expect(try await call(.put, "news", "u1") == 204) }
      let device = InstallationStage.device("u2")
      #expect(try await call(.put, "news", "u2", as: device) == 204)
      #expect(try await call(.put, "news", "u1", as: device) == 403)
      #expect(try await call(.delete, "news", "u1", as: device) == 403)
      let subscribed = try await topics()
      #expect(subscribed == ["news 2"])
      for _ in 0..<2 { #expect(try await call(.delete, "news", "u2", as: device) == 204) }
      #expect(try await topics() == ["news 1"])
      #expect(try await call(.put, "no spaces", "u1") == 422)
      #expect(try await call(.put, "news", "") == 422)
    }
  }

  @Test("topics and channels are told page by page, in the order of their bytes")
  func pages() async throws {
    try await InstallationStage.with { stage in
      for topic in ["b", "A", "c", "a"] {
        _ = try await stage.call(.put, Self.pattern, ["topic": topic, "user": "u1"])
      }
      try await stage.install("u1", "aabbccdd", #", "channels": ["x:y z", "é"]"#)
      var names: [String] = []
      var cursor: String?
      var pages = 0
      repeat {
        var query: [(name: String, value: String)] = [("limit", "2")]
        if let cursor { query.append(("cursor", cursor)) }
        let page = try await stage.call(.get, "/v1/apps/{app}/topics", [:], query: query)
        #expect(page.status == 200)
        names += Self.sizes(page)
        cursor = page["next"]?.stringValue
        #expect(
          page.headers["link"]
            == cursor.map { "</v1/apps/shop/topics?cursor=\($0)&limit=2>; rel=\"next\"" })
        pages += 1
      } while cursor != nil && pages < 9
      #expect(names == ["A 1", "a 1", "b 1", "c 1"] && pages == 2)
      let channels = try await stage.call(
        .get, "/v1/apps/{app}/channels", [:], query: [("limit", "1")],
        as: InstallationStage.operator)
      #expect(Self.sizes(channels) == ["x:y z 1"])
      #expect(
        channels.headers["link"]
          == "</v1/apps/shop/channels?cursor=x%3Ay%20z&limit=1>; rel=\"next\"")
      let last = try await stage.call(
        .get, "/v1/apps/{app}/channels", [:], query: [("cursor", "x:y z")])
      #expect(Self.sizes(last) == ["é 1"] && last["next"] == .null)
      for limit in ["0", "201", "x"] {
        let refused = try await stage.call(
          .get, "/v1/apps/{app}/topics", [:], query: [("limit", limit)])
        #expect(refused.status == 400)
      }
      let unknown = try await stage.call(.get, "/v1/apps/{app}/topics", ["app": "other"])
      #expect(unknown.status == 404)
    }
  }
}
