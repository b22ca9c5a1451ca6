import Model
import Operations
import Redis
import Store
import Testing

@testable import Server

/// What operators did, as the API lists it.
@Suite struct ActRoutesTests {
  private static func list(
    _ stage: InstallationStage, _ query: [(name: String, value: String)] = []
  ) async throws(Problem) -> (acts: [JSONObject], next: String?, link: String?) {
    let request = APIRequest(
      .get, path: [:], query: query, caller: InstallationStage.operator, id: "r")
    let response = try await ActRoutes.all[0].handle(request, stage.services)
    guard case .json(let body) = response.body, let object = body.objectValue else {
      throw Problem(500, "no JSON", "")
    }
    return (
      object["acts"]?.arrayValue?.compactMap(\.objectValue) ?? [], object["next"]?.stringValue,
      response.headers.first { $0.name == "link" }?.value
    )
  }

  @Test("acts are listed with all that is known of them, a page behind the other")
  func pages() async throws {
    try await InstallationStage.with { stage in
      let caller = Caller(
        role: .operatorAct, app: nil, name: "k7", keyName: "the hall", address: "192.0.2.1")
      for number in 0..<5 {
        await stage.services.noteAct(
          "job.pause", app: "shop", subject: "j\(number)", detail: "d", by: caller)
      }
      await stage.services.noteAct("key.create", by: caller)
      var subjects: [String] = []
      var cursor: String?
      repeat {
        let more = cursor.map { [(name: "cursor", value: $0)] } ?? []
        let page = try await Self.list(
          stage, [(name: "app", value: "shop"), (name: "limit", value: "2")] + more)
        subjects += page.acts.compactMap { $0["subject"]?.stringValue }
        #expect(
          (page.link?.contains("/v1/acts?app=shop&limit=2&cursor=") ?? false) == (page.next != nil))
        cursor = page.next
      } while cursor != nil
      #expect(subjects == ["j4", "j3", "j2", "j1", "j0"])
      let act = try #require(
        try await Self.list(stage, [(name: "verb", value: "job.pause")]).acts.first)
      #expect(act["who_name"]?.stringValue == "the hall")
      #expect(act["who"]?.stringValue == "k7" && act["from"]?.stringValue == "192.0.2.1")
      #expect(act["detail"]?.stringValue == "d" && act["app"]?.stringValue == "shop")
      #expect(try await Self.list(stage, [(name: "verb", value: "key")]).acts.count == 1)
    }
  }

  @Test("a query that cannot be is refused")
  func refusals() async throws {
    try await InstallationStage.with { stage in
      for (name, value) in [("app", "a b"), ("limit", "0"), ("cursor", "x"), ("cursor", "")] {
        let problem = try await #require(throws: Problem.self) {
          try await Self.list(stage, [(name: name, value: value)])
        }
        #expect(problem.status == 400, "\(name)=\(value)")
      }
    }
  }
}
