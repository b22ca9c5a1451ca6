import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Reactor
import Redis
import Store
import Testing
import TestSupport

@testable import Server

/// The routes of installations, users and topics on an empty Redis of their own, called without a port.
struct InstallationStage: Sendable {
  static let server = Caller(role: .server, app: "shop", name: "k1", address: "127.0.0.1")
  static let `operator` = Caller(role: .operatorLook, app: nil, name: "k2", address: "127.0.0.1")
  static let path = "/v1/apps/{app}/installations/{network}/{token}"

  static func device(_ user: String) -> Caller {
    Caller(role: .device, app: "shop", user: user, name: user, address: "127.0.0.1")
  }

  static let routes = InstallationRoutes.all + UserRoutes.all + TopicRoutes.all

  let services: Services
  let redis: RedisServer

  /// - Parameter apps: those of the configuration.
  static func with(
    apps: [String] = ["shop"], _ body: (InstallationStage) async throws -> Void
  ) async throws {
    try await RedisServer.with { redis in
      let loop = try EventLoop(name: "routes")
      try loop.start()
      defer { loop.stop() }
      let session = try await StoreSession.open(
        Configuration(redis: RedisConfiguration(url: try RedisURL(redis.url))), as: .operator,
        for: StoreSession.Client(name: "pushpool-test", version: "test"), on: loop)
      let configuration = Configuration(apps: apps.map { AppConfiguration(id: $0) })
      let stage = InstallationStage(
        services: Services(session: session, configuration: configuration), redis: redis)
      do { try await body(stage) } catch {
        await session.close()
        throw error
      }
      await session.close()
    }
  }

  struct Answer: Sendable {
    let status: Int
    let headers: [String: String]
    let bytes: [UInt8]

    var json: JSONValue { (try? JSONParser().parse(bytes)) ?? .null }
    /// A member of the object that the body is.
    subscript(name: String) -> JSONValue? { json.objectValue?[name] }
    /// The pointers of a problem's errors.
    var pointers: [String] {
      self["errors"]?.arrayValue?.compactMap { $0.objectValue?["pointer"]?.stringValue } ?? []
    }
    var items: [JSONValue] { self["items"]?.arrayValue ?? [] }
    var lines: [JSONValue] {
      bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONParser().parse(Array($0)) }
    }
  }

  /// Calls a route as the listener does. A problem is told as its answer.
  func call(
    _ method: APIRequest.Method, _ pattern: String, _ path: [String: String],
    query: [(name: String, value: String)] = [],
    headers: [String: String] = [:], body: [UInt8] = [], as caller: Caller = Self.server
  ) async throws -> Answer {
    let route = try #require(
      Self.routes.first { $0.method == method && $0.pattern.text == pattern })
    let request = APIRequest(
      method, path: ["app": "shop"].merging(path) { $1 }, query: query, headers: headers,
      body: body, caller: caller, id: "r1")
    let response: APIResponse
    do throws(Problem) { response = try await route.handle(request, services) } catch {
      response = error.response
    }
    let bytes: [UInt8]
    switch response.body {
    case .none: bytes = []
    case .json(let value): bytes = value.bytes()
    case .bytes(let written, _): bytes = written
    case .stream: bytes = []
    }
    return Answer(
      status: response.status,
      headers: Dictionary(response.headers.map { ($0.name, $0.value) }) { $1 }, bytes: bytes)
  }

  /// Calls a route of one token.
  func call(
    _ method: APIRequest.Method, _ path: [String: String], body: [UInt8] = []
  ) async throws -> Answer {
    try await call(method, Self.path, path, body: body)
  }

  /// Calls a route of one APNs token.
  func call(
    _ method: APIRequest.Method, token: String, _ body: String = "",
    query: [(name: String, value: String)] = [], headers: [String: String] = [:],
    as caller: Caller = Self.server
  ) async throws -> Answer {
    try await call(
      method, Self.path, ["network": "apns", "token": token], query: query, headers: headers,
      body: Array(body.utf8), as: caller)
  }

  /// Installs an APNs token.
  @discardableResult
  func install(_ user: String, _ token: String, _ more: String = "") async throws -> Answer {
    let answer = try await call(.put, token: token, #"{"user": "\#(user)"\#(more)}"#)
    #expect(answer.status < 300, "\(answer)")
    return answer
  }
}

extension InstallationStage.Answer: CustomStringConvertible {
  var description: String { "\(status) \(String(decoding: bytes, as: UTF8.self))" }
}
