import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Reactor
import Store
import TestSupport
import Testing

@testable import Server

@Suite struct PageRoutesTests {
  private static let nobody = Caller(role: nil, app: nil, name: "", address: "127.0.0.1")

  private static func request(
    _ path: [String: String] = [:], _ headers: [String: String] = [:]
  ) -> APIRequest {
    APIRequest(.get, path: path, headers: headers, caller: nobody, id: "r")
  }

  /// Asks a route of the page, beside a Redis that it can use.
  private static func answer(
    _ pattern: String, _ request: APIRequest
  ) async throws -> APIResponse {
    try await ServedStore.with { services in
      let routes = PageRoutes.all(FleetFeed(services))
      let route = try #require(routes.first { $0.pattern.text == pattern })
      do throws(Problem) { return try await route.handle(request, services) } catch {
        return error.response
      }
    }
  }

  private static func header(_ name: String, of response: APIResponse) -> String? {
    response.headers.first { $0.name == name }?.value
  }

  @Test("the page forbids everything that is not its own, and is sent again only when it changed")
  func page() async throws {
    let response = try await Self.answer("/", Self.request())
    #expect(response.status == 200)
    let policy = try #require(Self.header("content-security-policy", of: response))
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
    #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
    #expect(Self.header("x-content-type-options", of: response) == "nosniff")
    let tag = try #require(Self.header("etag", of: response))
    for field in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
      let again = try await Self.answer("/", Self.request([:], ["if-none-match": field]))
      #expect(again.status == 304, "\(field)")
      guard case .none = again.body else { Issue.record("304 has a body"); continue }
    }
    let other = try await Self.answer("/", Self.request([:], ["if-none-match": "\"other\""]))
    #expect(other.status == 200)
  }

  @Test("each file that the page or a file of it names is there, and nothing comes from elsewhere")
  func files() throws {
    let page = String(decoding: PageAssets.page.bytes, as: UTF8.self)
    var texts = [("index.html", page)]
    for (name, asset) in PageAssets.named where name != "operating.txt" {
      texts.append((name, String(decoding: asset.bytes, as: UTF8.self)))
    }
    for (name, text) in texts {
      for match in text.matches(of: /(?:from|import)\s*\(?\s*"\.\/([^"]+)"|\/assets\/([a-z.\-]+)/) {
        let file = String(match.1 ?? match.2 ?? "")
        #expect(PageAssets.named[file] != nil, "\(name) names \(file)")
      }
      #expect(!text.contains("innerHTML") && !text.contains("outerHTML"), "\(name)")
      #expect(!text.contains("insertAdjacentHTML") && !text.contains("document.write"), "\(name)")
      #expect(text.firstMatch(of: /\s(style|on[a-z]+)="/) == nil, "\(name) has inline code")
      for match in text.matches(of: /https?:\/\/[^\s"'`)]+/) {
        #expect(match.0.hasPrefix("http://www.w3.org/"), "\(name) names \(match.0)")
      }
    }
    #expect(!page.contains("<style") && page.firstMatch(of: /<script(?![^>]*\ssrc=)/) == nil)
    #expect(PageAssets.named.values.allSatisfy { !$0.bytes.isEmpty })
  }

  @Test("a file that is not there is not found")
  func missing() async throws {
    for name in ["nothing.js", "../app.js", "app.js/", ""] {
      let response = try await Self.answer("/assets/{name}", Self.request(["name": name]))
      #expect(response.status == 404, "\(name)")
    }
    let script = try await Self.answer("/assets/{name}", Self.request(["name": "app.js"]))
    guard case .bytes(let bytes, let type) = script.body else {
      Issue.record("app.js has no bytes")
      return
    }
    #expect(!bytes.isEmpty && type.hasPrefix("text/javascript"))
  }

  @Test("every alarm has its paragraph in the guide that the page shows")
  func paragraphs() throws {
    let guide = try #require(PageAssets.named["operating.txt"])
    let headings = String(decoding: guide.bytes, as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix("#") }.joined(separator: " ").replacing(",", with: "").split(
        separator: " ")
    for kind in AlarmKind.allCases { #expect(headings.contains(kind.rawValue[...]), "\(kind)") }
  }

  @Test("whoever looks may listen, and the files are open")
  func access() async throws {
    let routes = try await ServedStore.with { services in
      PageRoutes.all(FleetFeed(services)).map { ($0.pattern.text, $0.access) }
    }
    for (pattern, access) in routes {
      switch pattern {
      case "/", "/assets/{name}": #expect(access == .open)
      case "/v1/events", "/v1/events/latest": #expect(access == .roles([.operatorLook]))
      default: #expect(access == .roles([.operatorLook, .server]), "\(pattern)")
      }
    }
    #expect(routes.count == 5)
  }
}

/// The services of a server beside a Redis of their own.
enum ServedStore {
  /// - Parameter inRedis: whether there may be apps in Redis, too.
  static func with<Value: Sendable>(
    apps: [AppConfiguration] = [], inRedis: Bool = false,
    _ body: @Sendable (Services) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with { server in
      let loop = try EventLoop(name: "page-test")
      try loop.start()
      defer { loop.stop() }
      let redis = RedisConfiguration(url: try RedisURL(server.url))
      let session = try await StoreSession.open(
        Configuration(redis: redis), as: .operator, for: .init(name: "page-test", version: "0"),
        on: loop)
      var configuration = Configuration(redis: redis, apps: apps)
      // Who shows apps needs no key.
      if inRedis { configuration.appsInRedis = AppsInRedisConfiguration(keyFiles: []) }
      let value = try await body(Services(session: session, configuration: configuration))
      await session.close()
      return value
    }
  }
}
