import Testing

@testable import Server

/// Which route a request finds, whatever its path is made of.
@Suite struct RouteIndexTests {
  private static func route(_ method: APIRequest.Method, _ pattern: PathPattern) -> APIRoute {
    APIRoute(method, pattern, .open, RouteDocument("tests", pattern.text, answers: [])) { _, _ in
      .noContent
    }
  }

  private static let index = RouteIndex([
    route(.get, "/"),
    route(.get, "/v1/apps/{app}/jobs"),
    route(.post, "/v1/apps/{app}/jobs"),
    route(.post, "/v1/apps/{app}/jobs:preview"),
    route(.get, "/v1/apps/{app}/jobs/{id}"),
    route(.patch, "/v1/apps/{app}/jobs/{id}"),
    route(.post, "/v1/apps/{app}/jobs/{id}:cancel"),
    route(.put, "/v1/apps/{app}/installations/{network}/{token}"),
    route(.get, "/v1/apps/{app}/switches/{kind}"),
    route(.get, "/v1/apps/{app}/switches/app"),
  ])

  private static func found(
    _ method: String, _ path: String
  ) throws -> (pattern: String, path: [String: String]) {
    let (route, path) = try index.find(method: method, rawPath: path)
    return (route.pattern.text, path)
  }

  private static func status(_ method: String, _ path: String) -> Int {
    do throws(Problem) {
      _ = try index.find(method: method, rawPath: path)
      return 200
    } catch { return error.status }
  }

  @Test(
    "a path's parameters are decoded once it is known which they are",
    arguments: [
      ("/v1/apps/shop/jobs/sale", "sale"), ("/v1/apps/shop/jobs/a%2Fb", "a/b"),
      ("/v1/apps/shop/jobs/a%2fb%3A", "a/b:"), ("/v1/apps/shop/jobs/%C3%BC", "ü"),
      ("/v1/apps/shop/jobs/a+b", "a+b"), ("/v1/apps/shop/jobs/%25", "%"),
      ("/v1/apps/shop/jobs/%2525", "%25"), ("/v1/apps/shop/jobs/order:55", "order:55"),
      ("/v1/apps/shop/jobs/sale%3Acancel", "sale:cancel"), ("/v1/apps/shop/jobs/a%20b", "a b"),
      ("/v1/apps/shop/jobs/...", "..."), ("/v1/apps/shop/jobs/a%2F..%2Fb", "a/../b"),
      ("/v1/apps/shop/jobs/:", ":"),
    ])
  func decodes(path: String, id: String) throws {
    let found = try Self.found("GET", path)
    #expect(found.pattern == "/v1/apps/{app}/jobs/{id}")
    #expect(found.path == ["app": "shop", "id": id])
  }

  @Test("an action is one only where its colon stands as it is")
  func actions() throws {
    let cancel = try Self.found("POST", "/v1/apps/shop/jobs/a:b:cancel")
    #expect(cancel.pattern == "/v1/apps/{app}/jobs/{id}:cancel")
    #expect(cancel.path["id"] == "a:b")
    #expect(try Self.found("POST", "/v1/apps/shop/jobs:preview").path == ["app": "shop"])
    // An id that ends as the action does has its colon encoded, also where no other method takes the action.
    #expect(Self.status("GET", "/v1/apps/shop/jobs/sale:cancel") == 405)
    #expect(Self.status("POST", "/v1/apps/shop/jobs/sale%3Acancel") == 405)
    #expect(Self.status("POST", "/v1/apps/shop/jobs/:cancel") == 405)
    #expect(Self.status("POST", "/v1/apps/shop/jobs%3Apreview") == 404)
    #expect(Self.status("POST", "/v1/apps/shop/jobs:other") == 404)
    // Tokens of FCM have colons.
    let token = try Self.found("PUT", "/v1/apps/shop/installations/fcm/cX1:token:cancel")
    #expect(token.path == ["app": "shop", "network": "fcm", "token": "cX1:token:cancel"])
  }

  @Test("a literal goes before a parameter, wherever the routes stand in their list")
  func narrower() throws {
    #expect(
      try Self.found("GET", "/v1/apps/shop/switches/app").pattern
        == "/v1/apps/{app}/switches/app")
    #expect(try Self.found("GET", "/v1/apps/shop/switches/x").path["kind"] == "x")
  }

  @Test("another method is answered with those that the path takes")
  func otherMethods() throws {
    for method in ["DELETE", "TRACE", "get", ""] {
      let problem = #expect(throws: Problem.self) {
        try Self.found(method, "/v1/apps/shop/jobs/sale")
      }
      #expect(problem?.status == 405)
      #expect(problem?.headers.map(\.value) == ["GET, PATCH"])
    }
    #expect(try Self.index.find(method: .get, rawPath: "/").0.pattern.text == "/")
  }

  @Test(
    "a path that leads nowhere is unknown",
    arguments: [
      "/v1", "/v1/apps/shop/jobs/", "/v1/apps//jobs", "//v1/apps/shop/jobs", "/v1/apps/shop/jobs//",
      "/v1/apps/shop/jobs/a/b", "/V1/apps/shop/jobs", "/v1/%61pps/shop/jobs",
      "/v1/apps/shop%2Fjobs", "/v1/apps/shop/", "//", "/v1/apps/shop/jobs;x",
    ])
  func unknown(path: String) { #expect(Self.status("GET", path) == 404) }

  @Test(
    "a path that cannot be read is refused, wherever it leads",
    arguments: [
      "", "*", "v1/apps", "http://host/v1/apps/shop/jobs", "/v1/apps/shop/jobs/%", "/x/%4",
      "/x/%zz", "/x/%4g", "/v1/apps/shop/jobs/%00", "/v1/apps/shop/jobs/a%00b", "/x/%ff",
      "/x/%C3", "/x/%C0%AF", "/x/%ED%A0%80", "/x/%F4%90%80%80", "/v1/apps/../fleet",
      "/v1/apps/shop/jobs/.", "/v1/apps/shop/jobs/..", "/v1/apps/%2e%2E/jobs", "/v1/./apps",
      "/v1/apps/shop/jobs/.%2e", "/v1/apps/shop/jobs/ü", "/x/a b", "/x/a\tb", "/x/a\u{0}b",
      "/x/a\\b",
      "/x/a?b", "/x/a#b", "/x/a\"b", "/x/<a>", "/x/{a}", "/x/a|b", "/x/a^b", "/x/a\r\nb", "/x/[a]",
    ])
  func unreadable(path: String) { #expect(Self.status("GET", path) == 400) }

  @Test("a path that is too long is refused before it is looked at")
  func long() {
    let most = "/" + String(repeating: "a", count: ServerLimits.pathBytesMax - 1)
    #expect(Self.status("GET", most) == 404)
    #expect(Self.status("GET", most + "%") == 414)
    let slashes = String(repeating: "/", count: ServerLimits.pathBytesMax)
    #expect(Self.status("GET", slashes) == 404)
  }
}
