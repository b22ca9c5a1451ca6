import Operations
import Store
import Testing

@testable import Server

/// Who is let in, and where.
@Suite struct GatekeeperTests {
  private static let ofApp = APIRoute.test("/v1/apps/{app}/jobs", .roles([.server, .operatorLook]))
  private static let acts = APIRoute.test(
    "/v1/apps/{app}/jobs/{id}:cancel", .roles([.server, .operatorAct]), .post)
  private static let ofUser = APIRoute.test(
    "/v1/apps/{app}/users/{user}/installations", .roles([.device, .server]))
  private static let fleet = APIRoute.test("/v1/fleet", .roles([.operatorLook]))
  private static let keys = APIRoute.test("/v1/keys", .roles([.admin]))
  private static let open = APIRoute.test("/v1/session", .open)

  private static let secret = Array(SignedText.secret.utf8)

  private static func stage(_ proxies: [String] = []) throws -> AccessStage {
    try AccessStage(
      userTokens: [
        UserTokenKey(app: "shop", algorithm: .hs256, content: secret, file: "shop.key")
      ], proxies: proxies)
  }

  private static func userToken(_ stage: AccessStage, user: String = "u1") throws -> String {
    try SignedText.hs256(
      #"{"sub":"\#(user)","aud":"shop","exp":\#(stage.nowMs / 1_000 + 3_600)}"#)
  }

  /// What each caller gets of each route: 200 is let in.
  @Test(
    "each role has its routes, an app is hidden from the keys of others, and nobody has only what is open"
  )
  func matrix() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let callers: [(name: String, credential: String?)] = [
      ("nobody", nil), ("device", try Self.userToken(stage)),
      ("server", stage.makeKey(.server).text),
      ("look", stage.makeKey(.operatorLook).text), ("act", stage.makeKey(.operatorAct).text),
      ("admin", stage.makeKey(.admin).text),
    ]
    let rows: [(String, APIRoute, [String: String], [Int])] = [
      ("jobs", Self.ofApp, ["app": "shop"], [401, 403, 200, 200, 200, 200]),
      ("jobs of another", Self.ofApp, ["app": "blog"], [401, 404, 404, 200, 200, 200]),
      ("cancel", Self.acts, ["app": "shop", "id": "j"], [401, 403, 200, 403, 200, 200]),
      (
        "cancel of another", Self.acts, ["app": "blog", "id": "j"], [401, 404, 404, 403, 200, 200]
      ),
      ("own", Self.ofUser, ["app": "shop", "user": "u1"], [401, 200, 200, 403, 403, 403]),
      ("other's", Self.ofUser, ["app": "shop", "user": "u2"], [401, 403, 200, 403, 403, 403]),
      ("fleet", Self.fleet, [:], [401, 403, 403, 200, 200, 200]),
      ("keys", Self.keys, [:], [401, 403, 403, 403, 403, 200]),
      ("open", Self.open, [:], [200, 200, 200, 200, 200, 200]),
    ]
    for (name, route, path, statuses) in rows {
      for (caller, status) in zip(callers, statuses) {
        let found = await gate.status(.of(caller.credential), to: route, path: path)
        #expect(found == status, "\(name) as \(caller.name)")
      }
    }
  }

  @Test("a server's key gets nothing that is for all apps, whatever the route allows")
  func appKeyOutside() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let route = APIRoute.test("/v1/fleet", .roles([.server]))
    #expect(await gate.status(.of(stage.makeKey(.server).text), to: route) == 403)
  }

  @Test(
    "an app that is not there and another's are answered alike, with nothing of a terminal in it")
  func hiddenApps() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let caller = try await gate.caller(.of(stage.makeKey(.server).text))
    for app in ["blog", "no-such-app", "\u{1B}[2J"] {
      let problem = try #require(throws: Problem.self) {
        try gate.admit(caller, to: Self.ofApp, path: ["app": app])
      }
      #expect(problem.status == 404 && problem.detail.hasPrefix("there is no app "))
      #expect(!problem.detail.contains("\u{1B}") && problem.errors.isEmpty)
    }
  }

  @Test("a caller is named by its key, or by its user, with the address that it came from")
  func callers() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.server)
    #expect(
      try await gate.caller(.of(key.text))
        == Caller(role: .server, app: "shop", name: key.id, address: "192.0.2.1"))
    #expect(
      try await gate.caller(.of(Self.userToken(stage)))
        == Caller(role: .device, app: "shop", user: "u1", name: "u1", address: "192.0.2.1"))
    #expect(
      try await gate.caller(.of(nil)) == Caller(role: nil, app: nil, name: "", address: "192.0.2.1")
    )
  }

  @Test(
    "a key that is not whole, not known, of another role or with another secret is refused alike")
  func wrongKeys() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.operatorLook)
    let other = stage.makeKey(.operatorLook)
    let swapped = "pp_operator-look_\(key.id)_\(other.secret)"
    for text in [
      KeyText(new: .admin).text, swapped, "pp_admin_\(key.id)_\(key.secret)",
      String(key.text.dropLast()), "pp_device_\(key.id)_\(key.secret)", "nonsense", "a.b.c",
    ] {
      let problem = try await #require(throws: Problem.self) {
        try await gate.caller(.of(text))
      }
      #expect(problem.status == 401, "\(text)")
      #expect(problem.headers.contains { $0.name == "www-authenticate" })
      #expect(!problem.detail.contains(key.secret) && !problem.detail.contains(other.secret))
    }
    for field in ["", "Bearer", "Bearer  ", "Basic dTpw", key.text, "Bearer \(key.text) x"] {
      let head = RequestHead.of(nil, .get, ["authorization": field])
      #expect(await gate.status(head) == 401, "\(field)")
    }
    #expect(await gate.status(.of(nil, .get, ["authorization": "bEARER \(key.text)"])) == 200)
  }

  @Test("a key in the path or the query is refused, and the sentence says to revoke it")
  func keysInURLs() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.admin)
    let hidden = key.text.replacing("_", with: "%5F")
    for path in [
      "/v1/fleet?key=\(key.text)", "/v1/fleet?a=1&x=\(key.text)&b=2", "/v1/keys/\(key.text)",
      "/v1/fleet?key=\(hidden)", "/?\(key.text)", "/v1/fleet?x=pp_\(key.text)",
    ] {
      for credential in [nil, key.text] {
        let problem = try await #require(throws: Problem.self) {
          try await gate.caller(.of(credential, path: path))
        }
        #expect(problem.status == 400 && problem.detail.contains("revoke the key"), "\(path)")
        #expect(!problem.detail.contains(key.secret))
      }
    }
    #expect(await gate.status(.of(key.text, path: "/v1/keys/\(key.id)")) == 200)
    #expect(await gate.status(.of(key.text, path: "/v1/apps/shop/jobs/pp_server_sale_2")) == 200)
  }

  @Test("a revoked key is refused within five seconds, and a new one is taken at once")
  func revoking() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.operatorLook)
    #expect(await gate.status(.of(key.text), to: Self.fleet) == 200)
    let caller = try await gate.caller(.of(key.text))
    stage.revoke(key)
    stage.pass(ms: 5_000)
    #expect(await gate.status(.of(key.text), to: Self.fleet) == 401)
    #expect(await gate.holds(caller) == false)
    let next = stage.makeKey(.operatorLook)
    #expect(await gate.status(.of(next.text), to: Self.fleet) == 200)
  }

  @Test("Redis is asked once in five seconds for a key, also for one that is not there")
  func caching() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let (key, stranger) = (stage.makeKey(.server), KeyText(new: .server))
    for _ in 0..<20 {
      #expect(await gate.status(.of(key.text)) == 200)
      #expect(await gate.status(.of(stranger.text)) == 401)
    }
    #expect(stage.lookups == 2)
    stage.pass(ms: 4_999)
    #expect(await gate.status(.of(key.text)) == 200)
    #expect(stage.lookups == 2)
    stage.pass(ms: 1)
    #expect(await gate.status(.of(key.text)) == 200)
    #expect(stage.lookups == 3)
  }

  @Test(
    "while Redis is away, a key that was read long ago is not believed: 503; the page stays open")
  func away() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.operatorLook)
    #expect(await gate.status(.of(key.text)) == 200)
    let caller = try await gate.caller(.of(key.text))
    stage.setAway(true)
    #expect(await gate.status(.of(key.text)) == 200)
    stage.pass(ms: 5_000)
    #expect(await gate.status(.of(key.text)) == 503)
    // What is already streamed goes on.
    #expect(await gate.holds(caller))
    let session = ["cookie": "pushpool_session=\(RandomSecret.make())"]
    #expect(await gate.status(.of(nil, path: "/", session)) == 200)
    #expect(await gate.status(.of(nil, path: "/v1/fleet", session)) == 503)
    stage.setAway(false)
    #expect(await gate.status(.of(key.text)) == 200)
  }

  @Test("many who ask for the same key at once wait for one answer")
  func together() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.server)
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<64 { group.addTask { await gate.status(.of(key.text)) } }
      for await status in group { #expect(status == 200) }
    }
    #expect(stage.lookups == 1)
  }

  @Test(
    "a device, a server and an operator each have a rate of their own, told in the answer's fields")
  func rates() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    func callers(_ credential: String) async throws -> Caller {
      try await gate.caller(.of(credential))
    }
    let device = try await callers(try Self.userToken(stage))
    let other = try await callers(try Self.userToken(stage, user: "u2"))
    let path = ["app": "shop", "user": "u1"]
    for _ in 0..<100 { try gate.admit(device, to: Self.ofUser, path: path) }
    let problem = try #require(throws: Problem.self) {
      try gate.admit(device, to: Self.ofUser, path: path)
    }
    #expect(problem.status == 429 && problem.retryAfterS == 1)
    let fields = Dictionary(uniqueKeysWithValues: problem.headers.map { ($0.name, $0.value) })
    #expect(fields["ratelimit-policy"] == "\"device\";q=100;w=5")
    #expect(fields["ratelimit"] == "\"device\";r=0;t=1")
    #expect(problem.response.headers.contains { $0.name == "retry-after" && $0.value == "1" })
    try gate.admit(other, to: Self.ofUser, path: ["app": "shop", "user": "u2"])
    stage.pass(ms: 50)
    try gate.admit(device, to: Self.ofUser, path: path)
    #expect(throws: Problem.self) { try gate.admit(device, to: Self.ofUser, path: path) }
    let server = try await callers(stage.makeKey(.server).text)
    for _ in 0..<1_000 { try gate.admit(server, to: Self.ofApp, path: ["app": "shop"]) }
  }

  @Test("an address that guesses is held back, and a key that was known goes on working from there")
  func guessing() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let key = stage.makeKey(.server)
    #expect(await gate.status(.of(key.text)) == 200)
    var statuses: [Int] = []
    for _ in 0..<60 { statuses.append(await gate.status(.of(KeyText(new: .server).text))) }
    #expect(statuses.prefix(50).allSatisfy { $0 == 401 })
    #expect(statuses.dropFirst(50).allSatisfy { $0 == 429 })
    // No more than were counted were looked for.
    #expect(stage.lookups == 51)
    #expect(await gate.status(.of("nonsense")) == 429)
    #expect(await gate.status(.of(key.text)) == 200)
    // Its answer is too old by now, and Redis is asked again.
    stage.pass(ms: 4_000)
    for _ in 0..<60 { _ = await gate.status(.of(KeyText(new: .server).text)) }
    stage.pass(ms: 1_000)
    for _ in 0..<60 { _ = await gate.status(.of(KeyText(new: .server).text)) }
    #expect(await gate.status(.of(key.text)) == 200)
    #expect(await gate.status(.of(KeyText(new: .server).text, address: "192.0.2.2")) == 401)
    stage.pass(ms: 100)
    #expect(await gate.status(.of(KeyText(new: .server).text)) == 401)
  }

  @Test("phones of one address whose tokens have ended get 401, and hold no other phone back there")
  func endedTokens() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let now = stage.nowMs / 1_000
    for claims in [
      #""exp":\#(now - 1)"#, #""exp":\#(now + 90_000)"#,
      #""exp":\#(now + 60),"nbf":\#(now + 120)"#,
    ] {
      for number in 0..<60 {
        let token = try SignedText.hs256(#"{"sub":"u\#(number)","aud":"shop",\#(claims)}"#)
        #expect(await gate.status(.of(token)) == 401)
      }
    }
    #expect(await gate.status(.of(try Self.userToken(stage))) == 200)
  }

  @Test("an address that guesses tokens is held back before they are verified, but not known ones")
  func guessedTokens() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let known = try Self.userToken(stage)
    #expect(await gate.status(.of(known)) == 200)
    let forged = try SignedText.hs256(
      #"{"sub":"u1","aud":"shop","exp":\#(stage.nowMs / 1_000 + 60)}"#,
      secret: Array("ffffffffffffffffffffffffffffffff".utf8))
    for number in 0..<60 {
      #expect(await gate.status(.of(forged)) == (number < 50 ? 401 : 429))
    }
    // No signature is looked at any more, not even a right one.
    let next = try Self.userToken(stage, user: "u2")
    #expect(await gate.status(.of(next)) == 429)
    #expect(await gate.status(.of(next, address: "192.0.2.2")) == 200)
    #expect(await gate.status(.of(known)) == 200)
    #expect(await gate.status(.of(next)) == 200)
  }

  @Test("a token that is remembered ends at its end")
  func endOfRemembered() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let token = try SignedText.hs256(
      #"{"sub":"u1","aud":"shop","exp":\#(stage.nowMs / 1_000 + 2)}"#)
    #expect(await gate.status(.of(token)) == 200)
    stage.pass(ms: 1_999)
    #expect(await gate.status(.of(token)) == 200)
    stage.pass(ms: 1)
    #expect(await gate.status(.of(token)) == 401)
  }

  @Test("whoever shows nothing is held back by its address")
  func openRate() async throws {
    let stage = try Self.stage()
    let gate = stage.gatekeeper()
    let nobody = try await gate.caller(.of(nil))
    for _ in 0..<1_000 { try gate.admit(nobody, to: Self.open, path: [:]) }
    #expect(throws: Problem.self) { try gate.admit(nobody, to: Self.open, path: [:]) }
    let other = try await gate.caller(.of(nil, address: "192.0.2.2"))
    try gate.admit(other, to: Self.open, path: [:])
  }
}
