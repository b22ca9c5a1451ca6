import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Reactor
import Redis
import Store
import Testing

@testable import Server

/// Routes over a Redis of their own, as the listener calls them.
struct RouteStage: Sendable {
  /// An answer, of a route or as the problem that it threw.
  struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let json: JSONValue

    init(_ response: APIResponse) throws {
      status = response.status
      headers = response.headers
      switch response.body {
      case .none: json = .null
      case .json(let value): json = value
      case .bytes(let bytes, _): json = try JSONParser().parse(bytes)
      case .stream: json = .null
      }
    }

    subscript(name: String) -> JSONValue? { json.objectValue?[name] }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    func strings(_ list: String, _ name: String) -> [String?] {
      (self[list]?.arrayValue ?? []).map { $0.objectValue?[name]?.stringValue }
    }
    var pointers: [String?] { strings("errors", "pointer") }
  }

  static let routes =
    JobRoutes.all + PreviewRoutes.all + TraceRoutes.all + DeadLetterRoutes.all + SwitchRoutes.all
    + FleetRoutes.all + ActRoutes.all + AppRoutes.all
  static let caller = Caller(role: .server, app: "shop", name: "test", address: "127.0.0.1")

  let services: Services
  let server: RedisServer
  let proxy: FaultProxy?
  private let index = RouteIndex(routes)

  /// - Parameter isProxied: whether a proxy that breaks connections stands before Redis.
  static func with<Value: Sendable>(
    _ configuration: Configuration = Configuration(), isProxied: Bool = false,
    _ body: @Sendable (RouteStage) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with { server in
      let loop = try EventLoop(name: "routes")
      try loop.start()
      defer { loop.stop() }
      var configuration = configuration
      let proxy =
        isProxied ? try FaultProxy(server: .unix(path: server.socketPath), seed: 1) : nil
      configuration.redis = RedisConfiguration(
        url: try RedisURL(proxy.map { "redis://127.0.0.1:\($0.port)" } ?? server.url))
      let session = try await StoreSession.open(
        configuration, as: .operator,
        for: StoreSession.Client(name: "routes-test", version: "test"), on: loop)
      let stage = RouteStage(
        services: Services(
          session: session, configuration: configuration, appKeys: try SealingKeys(configuration)),
        server: server,
        proxy: proxy)
      do {
        let value = try await body(stage)
        await session.close()
        await proxy?.close()
        return value
      } catch {
        await session.close()
        await proxy?.close()
        throw error
      }
    }
  }

  private init(services: Services, server: RedisServer, proxy: FaultProxy?) {
    self.services = services
    self.server = server
    self.proxy = proxy
  }

  /// Asks as a client does.
  /// - Parameters:
  ///   - path: percent-encoded.
  ///   - query: decoded.
  func ask(
    _ method: APIRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
    headers: [String: String] = [:], _ body: String = ""
  ) async throws -> Answer {
    let response: APIResponse
    do throws(Problem) {
      let (route, parameters) = try index.find(method: method, rawPath: path)
      response = try await route.answer(
        APIRequest(
          method, path: parameters, query: query, headers: headers, body: Array(body.utf8),
          caller: Self.caller, id: "r1"), services)
    } catch { response = error.response }
    return try Answer(response)
  }

  /// Does something with the store, beside the routes.
  func run<Value: Sendable>(
    _ body: @Sendable (ShardStore) async throws(RedisError) -> Value
  ) async throws -> Value { try await services.session.run(in: .home, body) }

  /// Adds a job as a producer does who knows Redis alone.
  func enqueue(_ job: String) async throws {
    _ = try await run { store throws(RedisError) in
      try await store.jobs.enqueue(Array(job.utf8), priority: .normal)
    }
  }

  /// Takes the next job in as a worker does: to one user, or by its own audience's size.
  func admit(_ id: String, app: String = "shop", startAtMs: Int64? = nil) async throws {
    try await enqueue("{}")
    try await run { store throws(RedisError) in
      guard let entry = try await store.jobs.take(consumer: "w", max: 1).first else { return }
      var admission = Admission(
        app: app, id: id, digest: "d", content: Array(#"{"notification":{"title":"T"}}"#.utf8),
        audience: Admission.Audience(lines: .users, recipients: 1, segments: 1),
        timing: Admission.Timing(startAtMs: startAtMs))
      admission.audience.texts = [Array("u1\n".utf8)]
      _ = try await store.jobs.admit(entry, admission, consumer: "w")
    }
  }

  /// Ends a job that was admitted: cancels it, and hands back what is left.
  func end(_ id: String) async throws {
    try await run { store throws(RedisError) in
      _ = try await store.jobs.cancel(app: "shop", id: id)
      let claims = try await store.chunks.claim(consumer: "w", max: 9)
      for claim in claims {
        try await store.chunks.handBack([claim], consumer: "w", delayMs: 0)
      }
    }
  }

  /// Adds a dead letter as the functions write it.
  func bury(
    _ entry: String, app: String = "shop", reason: String = "unknown_app", job: String = "{}",
    kind: String = "job"
  ) async throws {
    _ = try await run { store throws(RedisError) in
      try await store.connection.call(
        RedisCommand(
          "XADD", store.keys.dead, entry, "at", "1790000000000", "kind", kind, "reason", reason,
          "app", app, "id", "sale", "priority", "normal", "job", job, "truncated", "0"))
    }
  }
}
