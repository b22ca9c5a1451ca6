import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing
import TestSupport

@testable import Server

/// Sessions of browsers, and keys that admins make, over a Redis.
@Suite struct SessionRoutesTests {
  /// A server's access over a Redis of its own.
  private struct Stage {
    let lane: TestLane
    let redis: RedisServer
    let services: Services
    let stage: AccessStage
    let gate: Gatekeeper

    /// Another server of the fleet, with a memory of its own.
    func otherGate() -> Gatekeeper { Gatekeeper(services, clock: stage.clock) }

    func key(_ role: KeyRole, app: String? = nil) async throws -> KeyText {
      let issued = try await services.atHome { fleet throws(RedisError) in
        try await KeyOffice(fleet: fleet).create(
          role, app: app, name: "", by: "test", nowMs: 1)
      }
      return try #require(issued).text
    }

    func revoke(_ key: KeyText) async throws {
      _ = try await services.atHome { fleet throws(RedisError) in
        try await KeyOffice(fleet: fleet).revoke(key.id)
      }
    }

    /// A request through the gate to its route.
    func ask(
      _ method: APIRequest.Method, _ pattern: String, path: [String: String] = [:],
      key: String? = nil, _ headers: [String: String] = [:], body: String = "",
      address: String = "192.0.2.1"
    ) async throws(Problem) -> APIResponse {
      let head = RequestHead.of(key, method, path: pattern, headers, address: address)
      let caller = try await gate.caller(head)
      let route = SessionRoutes.all(gate).first {
        $0.method == method && $0.pattern.text == pattern
      }
      guard let route else { throw .notFound(pattern) }
      try gate.admit(caller, to: route, path: path)
      return try await route.handle(
        APIRequest(
          method, path: path, headers: head.headers, body: Array(body.utf8), caller: caller,
          id: "r"), services)
    }

    func status(
      _ method: APIRequest.Method, _ pattern: String, path: [String: String] = [:],
      key: String? = nil, _ headers: [String: String] = [:], body: String = ""
    ) async -> Int {
      do throws(Problem) {
        return try await ask(method, pattern, path: path, key: key, headers, body: body).status
      } catch {
        return error.status
      }
    }

    /// The acts, the newest first.
    func acts() async throws -> [ActEntry] {
      try await services.atHome { fleet throws(RedisError) in try await fleet.acts.page(max: 100) }
    }
  }

  private static func with(
    proxies: [String] = [], _ body: (Stage) async throws -> Void
  ) async throws {
    try await RedisServer.with { redis in
      let lane = try TestLane()
      let configuration = Configuration(
        redis: RedisConfiguration(url: try RedisURL(redis.url)))
      let session = try await StoreSession.open(
        configuration, as: .server,
        for: StoreSession.Client(name: "pushpool-server", version: "test"), on: lane.loop)
      let services = Services(session: session, configuration: configuration)
      let stage = try AccessStage()
      let gate = Gatekeeper(
        services, proxies: try TrustedProxies(proxies), clock: stage.clock)
      try await body(
        Stage(lane: lane, redis: redis, services: services, stage: stage, gate: gate))
      await session.close()
    }
  }

  /// The cookie of an answer, as a browser sends it back.
  private static func cookie(_ response: APIResponse) throws -> String {
    let field = try #require(response.headers.first { $0.name == "set-cookie" }).value
    return String(field.prefix { $0 != ";" })
  }

  private static let page = ["sec-fetch-site": "same-origin"]

  @Test("a key is exchanged for a cookie that works, on every server, until it is ended")
  func exchange() async throws {
    try await Self.with { stage in
      let key = try await stage.key(.operatorAct)
      let begun = try await stage.ask(
        .post, "/v1/session", Self.page, body: #"{"key": "\#(key.text)"}"#)
      #expect(begun.status == 200)
      let field = try #require(begun.headers.first { $0.name == "set-cookie" }).value
      #expect(field.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
      #expect(!field.contains(key.secret) && !field.contains("Secure"))
      #expect(begun.headers.contains { $0.name == "cache-control" && $0.value == "no-store" })
      let cookie = ["cookie": "theme=dark; \(try Self.cookie(begun))"]
      guard
        case .json(let who) = try await stage.ask(.get, "/v1/session", cookie).body,
        let object = who.objectValue
      else {
        Issue.record("no JSON")
        return
      }
      #expect(object["role"]?.stringValue == "operator-act")
      #expect(object["name"]?.stringValue == key.id)
      let elsewhere = RequestHead.of(nil, .get, cookie)
      #expect(try await stage.otherGate().caller(elsewhere).role == .operatorAct)
      // Redis has no name by which somebody could come.
      let names = try await stage.redis.command("KEYS", "*session*")
      #expect(names.contains("pushpool:session:") && !names.contains(cookie["cookie"]!.suffix(43)))
      let ended = try await stage.ask(
        .delete, "/v1/session", cookie.merging(Self.page) { $1 })
      #expect(ended.status == 204)
      #expect(
        ended.headers.contains {
          $0.name == "set-cookie" && $0.value.contains("pushpool_session=; Path=/; Max-Age=0")
        })
      #expect(await stage.status(.get, "/v1/session", cookie) == 401)
      #expect(await stage.status(.delete, "/v1/session", cookie) == 204)
      #expect(await stage.status(.delete, "/v1/session", key: key.text) == 204)
      #expect(try await stage.acts().map(\.act.verb) == ["session.end", "session.begin"])
      #expect(try await stage.acts().allSatisfy { $0.who == key.id && $0.from == "192.0.2.1" })
    }
  }

  @Test("an answer that goes on for long ends with its session, though the key is still there")
  func longAnswers() async throws {
    try await Self.with { stage in
      let key = try await stage.key(.operatorLook)
      let begun = try await stage.ask(.post, "/v1/session", key: key.text, Self.page)
      let cookie = ["cookie": try Self.cookie(begun)]
      let elsewhere = stage.otherGate()
      let byCookie = try await elsewhere.caller(.of(nil, .get, cookie))
      let byKey = try await elsewhere.caller(.of(key.text))
      #expect(await elsewhere.holds(byCookie))
      #expect(!"\(byCookie)".contains(try Self.cookie(begun).suffix(43)))
      #expect(await stage.status(.delete, "/v1/session", cookie.merging(Self.page) { $1 }) == 204)
      stage.stage.pass(ms: 5_000)
      #expect(await elsewhere.holds(byCookie) == false)
      #expect(await elsewhere.holds(byKey))
    }
  }

  @Test("a session ends within five seconds when its key is revoked")
  func revoked() async throws {
    try await Self.with { stage in
      let key = try await stage.key(.operatorLook)
      let begun = try await stage.ask(.post, "/v1/session", key: key.text, Self.page)
      let cookie = ["cookie": try Self.cookie(begun)]
      #expect(await stage.status(.get, "/v1/session", cookie) == 200)
      try await stage.revoke(key)
      stage.stage.pass(ms: 5_000)
      #expect(await stage.status(.get, "/v1/session", cookie) == 401)
    }
  }

  @Test("what changes something by the cookie needs this server's own page")
  func otherSites() async throws {
    try await Self.with { stage in
      let key = try await stage.key(.admin)
      let begun = try await stage.ask(.post, "/v1/session", key: key.text, Self.page)
      var headers = ["cookie": try Self.cookie(begun), "host": "push.example.com"]
      let body = #"{"role": "operator-look"}"#
      #expect(await stage.status(.post, "/v1/keys", headers, body: body) == 403)
      for site in ["cross-site", "same-site"] {
        headers["sec-fetch-site"] = site
        #expect(await stage.status(.post, "/v1/keys", headers, body: body) == 403)
        #expect(await stage.status(.delete, "/v1/session", headers) == 403)
        // Nor does another's page begin one in which its visitor would work as somebody else.
        #expect(
          await stage.status(
            .post, "/v1/session", ["sec-fetch-site": site], body: #"{"key": "\#(key.text)"}"#)
            == 403)
      }
      headers["sec-fetch-site"] = "same-origin"
      #expect(await stage.status(.post, "/v1/keys", headers, body: body) == 201)
      headers["sec-fetch-site"] = nil
      headers["origin"] = "https://push.example.com"
      #expect(await stage.status(.post, "/v1/keys", headers, body: body) == 201)
      headers["origin"] = "https://evil.example.com"
      #expect(await stage.status(.post, "/v1/keys", headers, body: body) == 403)
      // It is read, for links lead here from anywhere.
      headers["sec-fetch-site"] = "cross-site"
      #expect(await stage.status(.get, "/v1/session", headers) == 200)
      // A key in its field is no cookie: no other site's page can send it.
      #expect(
        await stage.status(
          .post, "/v1/keys", key: key.text, ["sec-fetch-site": "cross-site"], body: body) == 201)
    }
  }

  @Test("the cookie is for HTTPS alone where a trusted proxy says that the client came by it")
  func secureCookie() async throws {
    try await Self.with(proxies: ["127.0.0.1"]) { stage in
      let key = try await stage.key(.operatorLook)
      for (address, isSecure) in [("127.0.0.1", true), ("192.0.2.1", false)] {
        let begun = try await stage.ask(
          .post, "/v1/session", key: key.text,
          ["x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.1"], address: address)
        let field = try #require(begun.headers.first { $0.name == "set-cookie" }).value
        #expect(field.hasSuffix("; Secure") == isSecure, "\(address)")
      }
      #expect(try await stage.acts().map(\.from) == ["192.0.2.1", "198.51.100.1"])
    }
  }

  @Test("a session takes a key of an operator, a known one, and not another session")
  func refusals() async throws {
    try await Self.with { stage in
      let server = try await stage.key(.server, app: "shop")
      let look = try await stage.key(.operatorLook)
      for (body, status) in [
        (#"{"key": "\#(server.text)"}"#, 403), (#"{"key": "\#(KeyText(new: .admin).text)"}"#, 401),
        (#"{"key": "text"}"#, 401), (#"{"key": 7}"#, 400), ("[]", 400), ("{", 400), ("{}", 400),
        (#"{"key": "\#(look.text)", "app": "shop"}"#, 422), ("", 401),
      ] {
        #expect(await stage.status(.post, "/v1/session", body: body) == status, "\(body)")
      }
      let begun = try await stage.ask(.post, "/v1/session", key: look.text)
      let cookie = ["cookie": try Self.cookie(begun)].merging(Self.page) { $1 }
      #expect(await stage.status(.post, "/v1/session", cookie) == 401)
      for cookie in [
        "pushpool_session=", "pushpool_session=short", "pushpool_session=\(RandomSecret.make())",
        "\(cookie["cookie"]!); \(cookie["cookie"]!)", "x\(cookie["cookie"]!)",
      ] {
        #expect(await stage.status(.get, "/v1/session", ["cookie": cookie]) == 401, "\(cookie)")
      }
    }
  }

  @Test("sessions with one key are begun at a rate")
  func signInRate() async throws {
    try await Self.with { stage in
      let key = try await stage.key(.operatorLook)
      var statuses: [Int] = []
      for _ in 0..<21 {
        statuses.append(await stage.status(.post, "/v1/session", key: key.text))
      }
      #expect(statuses == Array(repeating: 200, count: 20) + [429])
      stage.stage.pass(ms: 1_000)
      #expect(await stage.status(.post, "/v1/session", key: key.text) == 200)
    }
  }

  @Test("an admin makes a key that works, sees it listed without its secret, and revokes it")
  func keys() async throws {
    try await Self.with { stage in
      let admin = try await stage.key(.admin)
      let made = try await stage.ask(
        .post, "/v1/keys", key: admin.text,
        body: #"{"role": "operator-look", "name": "the hall"}"#)
      guard case .json(let value) = made.body, let object = value.objectValue else {
        Issue.record("no JSON")
        return
      }
      let id = try #require(object["id"]?.stringValue)
      let text = try #require(object["key"]?.stringValue)
      #expect(made.status == 201 && KeyText(text)?.id == id)
      #expect(made.headers.contains { $0.name == "location" && $0.value == "/v1/keys/\(id)" })
      #expect(await stage.status(.get, "/v1/session", key: text) == 200)
      let list = try await stage.ask(.get, "/v1/keys", key: admin.text)
      guard case .json(let listed) = list.body else {
        Issue.record("no JSON")
        return
      }
      let all = listed.text()
      #expect(all.contains(id) && all.contains("the hall") && all.contains(admin.id))
      #expect(!all.contains("sha256") && !all.contains(String(text.suffix(43))))
      #expect(await stage.status(.get, "/v1/keys", key: text) == 403)
      #expect(
        await stage.status(.delete, "/v1/keys/{id}", path: ["id": id], key: admin.text) == 204)
      // Here it ends at once.
      #expect(await stage.status(.get, "/v1/session", key: text) == 401)
      for id in [id, "nobody", ""] {
        #expect(
          await stage.status(.delete, "/v1/keys/{id}", path: ["id": id], key: admin.text) == 404)
      }
      #expect(try await stage.acts().map(\.act.verb) == ["key.revoke", "key.create"])
      #expect(
        try await stage.acts().map(\.act.detail) == [
          "operator-look, the hall", "operator-look, the hall",
        ])
      #expect(try await stage.acts().allSatisfy { $0.act.subject == id && $0.who == admin.id })
    }
  }

  @Test("a key that breaks a rule is refused with a pointer to the field")
  func wrongKeys() async throws {
    try await Self.with { stage in
      let admin = try await stage.key(.admin)
      for (body, pointer) in [
        (#"{"role": "device"}"#, "/role"), (#"{"role": "root"}"#, "/role"), ("{}", "/role"),
        (#"{"role": "server"}"#, "/app"), (#"{"role": "admin", "app": "shop"}"#, "/app"),
        (#"{"role": "server", "app": "a b"}"#, "/app"), (#"{"role": 1}"#, "/role"),
        (#"{"role": "admin", "names": "x"}"#, "/names"),
        (#"{"role": "admin", "name": "a\u0007"}"#, "/name"),
      ] {
        let problem = try await #require(throws: Problem.self) {
          try await stage.ask(.post, "/v1/keys", key: admin.text, body: body)
        }
        #expect(problem.status == 422 && problem.errors.map(\.pointer) == [pointer], "\(body)")
      }
      #expect(await stage.status(.post, "/v1/keys", key: admin.text, body: "[]") == 400)
      #expect(try await stage.acts().isEmpty)
    }
  }

  @Test("an act that cannot be noted fails no request")
  func cannotNote() async throws {
    try await Self.with { stage in
      let admin = try await stage.key(.admin)
      try await stage.redis.command("SET", "pushpool:acts", "another program's")
      let body = #"{"role": "operator-look"}"#
      #expect(await stage.status(.post, "/v1/keys", key: admin.text, body: body) == 201)
    }
  }
}
