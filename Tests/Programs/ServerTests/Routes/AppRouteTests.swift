import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Server

/// Apps that admins add while workers run.
@Suite struct AppRouteTests {
  private static let path = "/v1/apps/news"
  private let folder: TemporaryFolder
  private let key: SealingKey
  private let signingKey: APNsSigningKey

  init() throws {
    folder = try TemporaryFolder()
    key = .random()
    try PrivateFile.write(key.fileText, to: folder.file("apps.key"))
    signingKey = try APNsSigningKey(folder: folder.path)
  }

  private var configuration: Configuration {
    Configuration(appsInRedis: AppsInRedisConfiguration(keyFiles: [folder.file("apps.key")]))
  }

  /// The body of an app with a key at APNs and a secret at JPush.
  private func body(_ change: (inout JSONObject) -> Void = { _ in }) -> String {
    let text = TextFile.read(signingKey.file, bytesMax: 4_096) ?? ""
    var object: JSONObject = [
      "apns": [
        "production": [
          "key": .string(text), "key_id": .string(signingKey.keyID),
          "team_id": .string(signingKey.teamID), "topic": .string("com.example.news"),
        ]
      ], "jpush": ["app_key": .string("abc"), "master_secret": .string("master-hidden")],
    ]
    change(&object)
    return JSONValue.object(object).text()
  }

  @Test("an app is added, shown without its secrets, replaced, listed and removed")
  func lifeCycle() async throws {
    try await RouteStage.with(configuration) { stage in
      #expect(try await stage.ask(.get, Self.path).status == 404)
      let added = try await stage.ask(.put, Self.path, body())
      #expect(added.status == 201 && added.header("location") == Self.path)
      let shown = try await stage.ask(.get, Self.path)
      #expect(shown.status == 200 && shown.json == added.json)
      let text = shown.json.text()
      #expect(!text.contains("PRIVATE KEY") && !text.contains("hidden"))
      let jpush = shown["jpush"]?.objectValue
      #expect(jpush?["master_secret"]?.objectValue?["sha256"]?.stringValue?.count == 16)
      // The same again changes nothing.
      let same = try await stage.ask(.put, Self.path, body())
      #expect(same.status == 200 && same.json == shown.json)
      let faster = try await stage.ask(
        .put, Self.path, body { $0["pushes_per_second"] = .integer(5) })
      #expect(faster.status == 200 && faster["pushes_per_second"] == .integer(5))
      #expect(faster["revision"] != shown["revision"])
      #expect(try await stage.ask(.get, "/v1/apps").strings("apps", "id") == ["news"])
      let fleet = try await stage.ask(.get, "/v1/fleet")
      #expect(fleet.strings("rates", "app") == ["news"])
      #expect(fleet["rates"]?.arrayValue?.first?.objectValue?["per_second"] == .integer(5))
      #expect(try await stage.ask(.delete, Self.path).status == 204)
      #expect(try await stage.ask(.delete, Self.path).status == 404)
      let acts = try await stage.ask(.get, "/v1/acts")
      #expect(acts.strings("acts", "verb") == ["app.remove", "app.set", "app.add"])
      #expect(Set(acts.strings("acts", "app")) == ["news"])
    }
  }

  @Test(
    "what was shown is given back with a change: its secrets stay, and another's change is not lost"
  )
  func givesBack() async throws {
    try await RouteStage.with(configuration) { stage in
      _ = try await stage.ask(.put, Self.path, body())
      let shown = try await stage.ask(.get, Self.path)
      var object = try #require(shown.json.objectValue)
      object["events_per_minute"] = .integer(7)
      let text = JSONValue.object(object).text()
      let set = try await stage.ask(.put, Self.path, text)
      #expect(set.status == 200 && set["events_per_minute"] == .integer(7))
      let value = try await stage.services.session.atHome { fleet throws(RedisError) in
        try await fleet.apps.find("news") ?? []
      }
      let secrets = try AppRecord(id: "news", value: value).open(SealingKeys(key))
      #expect(secrets[.jpush(.masterSecret)] == AppSecret(Array("master-hidden".utf8)))
      // The revision that it names is not there any more.
      let late = try await stage.ask(.put, Self.path, text)
      #expect(late.status == 409)
      object["revision"] = nil
      let jpush: JSONValue = [
        "app_key": .string("abc"),
        "master_secret": ["sha256": .string("0123456789abcdef"), "set_at": .integer(1)],
      ]
      object["jpush"] = jpush
      let strange = try await stage.ask(.put, Self.path, JSONValue.object(object).text())
      #expect(strange.status == 422 && strange.pointers == ["/jpush/master_secret"])
    }
  }

  @Test(
    "whoever is late is told whether the app was changed or is gone, and never to look for a secret"
  )
  func tellsWhatHappened() async throws {
    try await RouteStage.with(configuration) { stage in
      _ = try await stage.ask(.put, Self.path, body())
      let shown = try await stage.ask(.get, Self.path)
      let tag = try #require(shown.header("etag"))
      let change = try #require(shown.json.objectValue)
      func late(_ headers: [String: String] = [:]) async throws -> RouteStage.Answer {
        var object = change
        object["pushes_per_second"] = .integer(9)
        // With If-Match alone, and with the revision alone.
        if !headers.isEmpty { object["revision"] = nil }
        return try await stage.ask(
          .put, Self.path, headers: headers, JSONValue.object(object).text())
      }
      #expect(try await stage.ask(.delete, Self.path).status == 204)
      let gone = try await late()
      #expect(gone.status == 409)
      #expect(
        gone["detail"]?.stringValue?.hasPrefix(
          "there is no app news any more: somebody has removed it")
          == true, "\(gone)")
      // Added again, with another secret of the same name: what was to stay is not there.
      let again = try await stage.ask(
        .put, Self.path,
        body {
          $0["jpush"] = [
            "app_key": .string("abc"), "master_secret": .string("another"),
          ]
        })
      #expect(again.status == 201)
      for (answer, status) in [(try await late(), 409), (try await late(["if-match": tag]), 412)] {
        let detail = answer["detail"]?.stringValue ?? ""
        #expect(answer.status == status)
        #expect(detail.hasPrefix("news is not what was shown any more: "), "\(detail)")
        #expect(detail.contains("or removed it and added it again, at 2"), "\(detail)")
        #expect(
          detail.contains(status == 412 ? "leave If-Match out" : "leave revision out"), "\(detail)")
      }
      let now = try await stage.ask(.get, Self.path)
      #expect(now["pushes_per_second"] != .integer(9))
    }
  }

  @Test("If-Match and If-None-Match let a change through while the app is what they name")
  func conditions() async throws {
    try await RouteStage.with(configuration) { stage in
      func put(_ headers: [String: String], perSecond: Int) async throws -> RouteStage.Answer {
        try await stage.ask(
          .put, Self.path, headers: headers,
          body { $0["pushes_per_second"] = .integer(perSecond) })
      }
      #expect(try await put(["if-match": "*"], perSecond: 1).status == 412)
      let added = try await put(["if-none-match": "*"], perSecond: 1)
      #expect(added.status == 201)
      let tag = try #require(added.header("etag"))
      #expect(tag == "\"\(added["revision"]?.stringValue ?? "")\"")
      #expect(try await stage.ask(.get, Self.path).header("etag") == tag)
      #expect(try await put(["if-none-match": "*"], perSecond: 2).status == 412)
      let set = try await put(["if-match": "\"other\", \(tag)"], perSecond: 3)
      #expect(set.status == 200 && set["pushes_per_second"] == .integer(3))
      // Of the one before.
      #expect(try await put(["if-match": tag], perSecond: 4).status == 412)
      #expect(
        try await put(["if-match": "W/\(set.header("etag") ?? "")"], perSecond: 4).status == 412)
      #expect(try await put(["if-match": "*"], perSecond: 5).status == 200)
      for headers in [
        ["if-match": "no tag"], ["if-none-match": tag],
        ["if-match": "*", "if-none-match": "*"],
      ] {
        #expect(try await put(headers, perSecond: 6).status == 400, "\(headers)")
      }
      let last = try await stage.ask(.get, Self.path)
      #expect(last["pushes_per_second"] == .integer(5))
      #expect(try await stage.ask(.delete, Self.path, headers: ["if-match": tag]).status == 412)
      let own = try #require(last.header("etag"))
      #expect(try await stage.ask(.delete, Self.path, headers: ["if-match": own]).status == 204)
      #expect(try await stage.ask(.delete, Self.path, headers: ["if-match": own]).status == 404)
    }
  }

  @Test("a body that breaks a rule, or a secret that cannot be used, is refused with its pointer")
  func refuses() async throws {
    try await RouteStage.with(configuration) { stage in
      let cases: [(String, Int, String?)] = [
        ("no JSON", 400, nil), ("[]", 422, ""), ("{}", 422, ""),
        (body { $0["id"] = .string("other") }, 422, "/id"),
        (body { $0["key_file"] = .string("x") }, 422, "/key_file"),
        (
          body { object in
            object["apns"] = [
              "production": [
                "key": .string("no key"), "key_id": .string("ABC123DEFG"),
                "team_id": .string("DEF123GHIJ"), "topic": .string("a"),
              ]
            ]
          }, 422, "/apns/production/key"
        ),
        (body { $0["fcm"] = ["service_account": .string("{}")] }, 422, "/fcm/service_account"),
      ]
      for (text, status, pointer) in cases {
        let answer = try await stage.ask(.put, Self.path, text)
        #expect(answer.status == status, "\(text): \(answer.json.text())")
        if let pointer { #expect(answer.pointers == [pointer], "\(answer.json.text())") }
        #expect(!answer.json.text().contains("hidden"))
      }
      #expect(try await stage.ask(.put, "/v1/apps/a%20b", body()).status == 422)
      #expect(try await stage.ask(.get, "/v1/apps").strings("apps", "id").isEmpty)
    }
  }

  @Test("an app of a configuration file is not added beside it, of this server's or of a worker's")
  func conflicts() async throws {
    var configuration = configuration
    configuration.apps = [AppConfiguration(id: "shop")]
    try await RouteStage.with(configuration) { stage in
      try await stage.run { store throws(RedisError) in
        _ = try await store.routes.announce(
          RouteTable(fields: [("mail", "apns|production"), ("bad", RouteTable.leftOut)]),
          waitMs: 600_000)
      }
      for app in ["shop", "mail", "bad"] {
        let answer = try await stage.ask(.put, "/v1/apps/\(app)", body())
        #expect(answer.status == 409, "\(app)")
        #expect(answer["detail"]?.stringValue?.contains("of a configuration file") == true)
      }
      #expect(try await stage.ask(.put, Self.path, body()).status == 201)
    }
  }

  @Test("a server without a key shows and removes apps, and adds none")
  func withoutKey() async throws {
    try await RouteStage.with { stage in
      _ = try await stage.services.session.atHome { fleet throws(RedisError) in
        try await fleet.apps.put("news", value: Array("junk".utf8), .put)
      }
      let answer = try await stage.ask(.put, Self.path, body())
      #expect(answer.status == 409)
      #expect(answer["detail"]?.stringValue?.contains("apps_in_redis.key_files") == true)
      let shown = try await stage.ask(.get, Self.path)
      #expect(
        shown.status == 200 && shown["fault"]?.stringValue?.contains("not valid JSON") == true)
      #expect(try await stage.ask(.delete, Self.path).status == 204)
    }
  }

  @Test("apps are listed page by page, by name")
  func pages() async throws {
    try await RouteStage.with(configuration) { stage in
      for number in 10..<15 {
        #expect(try await stage.ask(.put, "/v1/apps/app-\(number)", body()).status == 201)
      }
      var (seen, cursor, pages): ([String?], String?, Int) = ([], nil, 0)
      repeat {
        var query = [(name: "limit", value: "2")]
        if let cursor { query.append((name: "cursor", value: cursor)) }
        let page = try await stage.ask(.get, "/v1/apps", query: query)
        seen += page.strings("apps", "id")
        cursor = page["next"]?.stringValue
        pages += 1
        #expect((page.header("link") != nil) == (cursor != nil))
      } while cursor != nil && pages < 9
      #expect(seen == (10..<15).map { "app-\($0)" } && pages == 3)
      let bad = try await stage.ask(.get, "/v1/apps", query: [(name: "cursor", value: "x")])
      #expect(bad.status == 400)
    }
  }

  @Test("admins alone may see and change apps of Redis")
  func roles() {
    for route in AppRoutes.all {
      #expect(route.access == .roles([.admin]))
      #expect(APISecurity.admitted([.admin]) == [.admin])
    }
  }
}
