import Operations
import Store
import Synchronization

@testable import Server

/// A gatekeeper over keys and sessions in memory, with clocks that a test turns.
final class AccessStage: Sendable {
  private struct State {
    var keys: [String: AccessKey] = [:]
    var sessions: [String: String] = [:]
    var lookups = 0
    var isAway = false
    var wallMs: Int64 = 1_790_000_000_000
    var steadyMs: UInt64 = 1_000_000
  }

  private let state = Mutex(State())
  private let userTokens: [UserTokenKey]
  private let proxies: TrustedProxies

  init(userTokens: [UserTokenKey] = [], proxies: [String] = []) throws {
    self.userTokens = userTokens
    self.proxies = try TrustedProxies(proxies)
  }

  /// A gatekeeper of this stage, as each server of a fleet has one.
  func gatekeeper() -> Gatekeeper {
    Gatekeeper(records: records, userTokens: userTokens, proxies: proxies, clock: clock)
  }

  var nowMs: Int64 { state.withLock { $0.wallMs } }
  /// How often Redis would have been asked.
  var lookups: Int { state.withLock { $0.lookups } }

  func pass(ms: Int) {
    state.withLock {
      $0.wallMs += Int64(ms)
      $0.steadyMs += UInt64(ms)
    }
  }

  func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

  func makeKey(_ role: KeyRole, app: String? = nil) -> KeyText {
    let text = KeyText(new: role)
    state.withLock {
      $0.keys[text.id] = AccessKey(
        id: text.id, role: role, app: role.isOfOneApp ? app ?? "shop" : nil, name: "",
        secret: text.secret, createdAtMs: 1, createdBy: "test")
    }
    return text
  }

  func revoke(_ text: KeyText) { state.withLock { $0.keys[text.id] = nil } }

  private func look<Value: Sendable>(
    _ read: @Sendable (State) -> Value
  ) throws(Problem) -> Value {
    let (value, isAway) = state.withLock { state in
      state.lookups += 1
      return (read(state), state.isAway)
    }
    guard !isAway else { throw .unavailable("the store is away, try again") }
    return value
  }

  private var records: AccessRecords {
    AccessRecords(
      key: { [self] (id) async throws(Problem) in try look { $0.keys[id] } },
      sessionKeyID: { [self] (secret) async throws(Problem) in try look { $0.sessions[secret] } },
      beginSession: { [self] (secret, id, _) async throws(Problem) in
        state.withLock { $0.sessions[secret] = id }
      },
      endSession: { [self] (secret) async throws(Problem) in
        state.withLock { $0.sessions[secret] = nil }
      })
  }

  var clock: AccessClock {
    AccessClock(
      wallMs: { [self] in nowMs }, steadyMs: { [self] in state.withLock { $0.steadyMs } })
  }
}

extension RequestHead {
  /// A request of some client with a key or a user token.
  static func of(
    _ credential: String?, _ method: APIRequest.Method = .get, path: String = "/v1/fleet",
    _ headers: [String: String] = [:], address: String = "192.0.2.1"
  ) -> RequestHead {
    var headers = headers
    if let credential { headers["authorization"] = "Bearer \(credential)" }
    return RequestHead(method, path: path, headers: headers, address: address)
  }
}

extension Gatekeeper {
  /// The status with which a request is refused; 200 when it is let in.
  func status(
    _ head: RequestHead, to route: APIRoute? = nil, path: [String: String] = [:]
  ) async -> Int {
    do throws(Problem) {
      let caller = try await caller(head)
      if let route { try admit(caller, to: route, path: path) }
      return 200
    } catch {
      return error.status
    }
  }
}

extension APIRoute {
  static func test(
    _ pattern: PathPattern, _ access: Access, _ method: APIRequest.Method = .get
  ) -> APIRoute {
    APIRoute(method, pattern, access, RouteDocument("test", "test", answers: [])) {
      _, _ async throws(Problem) in APIResponse(200)
    }
  }
}
