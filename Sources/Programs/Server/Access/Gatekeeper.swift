package import Operations
internal import Store

/// Says who sends a request, and whether that caller may have a route. One for the process.
package final class Gatekeeper: Sendable {
  let proxies: TrustedProxies
  let clock: AccessClock
  let records: AccessRecords
  let keys: LookupCache<AccessKey>
  let sessions: LookupCache<String>
  let gauge = RateGauge()
  private let userTokens: [UserTokenKey]
  private let verified: VerifiedTokens

  /// - Parameters:
  ///   - userTokens: the keys of all apps whose phones may come.
  ///   - proxies: those that are believed about the client's address.
  package convenience init(
    _ services: Services, userTokens: [UserTokenKey] = [], proxies: TrustedProxies = .none,
    clock: AccessClock = .system
  ) {
    self.init(
      records: AccessRecords(services), userTokens: userTokens, proxies: proxies, clock: clock)
  }

  init(
    records: AccessRecords, userTokens: [UserTokenKey] = [], proxies: TrustedProxies = .none,
    clock: AccessClock
  ) {
    self.records = records
    self.userTokens = userTokens
    self.proxies = proxies
    self.clock = clock
    keys = LookupCache(clock: clock)
    sessions = LookupCache(clock: clock)
    verified = VerifiedTokens(clock: clock)
  }

  // MARK: Who it is

  /// Says who sends a request. A caller without a role has shown nothing, or a session that has ended.
  /// - Throws: 400 for a key in the path or the query, 401 for a credential that is none, 403 for a session that another site's
  ///   page uses, 429 for too many of these, 503 while Redis is away.
  package func caller(_ head: RequestHead) async throws(Problem) -> Caller {
    guard !head.showsKey else {
      throw .badRequest(
        "there is a key in the path or the query, where logs keep it: revoke the key (pushpool keys "
          + "revoke ID), make another, and give it in the field authorization: Bearer KEY")
    }
    let peer = Peer(address: proxies.client(of: head), isSecure: proxies.isSecure(head))
    // The page, its files and the probes are open: a browser's session must not make them fail while Redis is away.
    guard head.path.hasPrefix("/v1/") else { return peer.nobody }
    let credential: Credential
    do throws(Problem) { credential = try Credential(head) } catch {
      throw failed(error, from: peer)
    }
    switch credential {
    case .none: return try nobody(head, peer)
    case .key(let text): return try await caller(showing: text, from: peer)
    case .userToken(let text): return try caller(showing: text, from: peer)
    case .session(let secret): return try await caller(ofSession: secret, head, peer)
    }
  }

  /// The way by which a request came.
  struct Peer: Sendable {
    let address: String
    let isSecure: Bool

    var nobody: Caller {
      Caller(role: nil, app: nil, name: "", address: address, isSecure: isSecure)
    }

    /// The name that its rates go by.
    var rateName: String { PeerAddress(address)?.rateName ?? String(address.prefix(64)) }
  }

  /// Says whose a key is.
  func caller(showing text: KeyText, from peer: Peer) async throws(Problem) -> Caller {
    guard let key = try await key(text.id, peer), key.role == text.role, key.fits(text.secret)
    else {
      throw failed(
        .unauthorized("the key \(text.id) is not known here, or was revoked"), from: peer)
    }
    return caller(key, peer)
  }

  private func caller(showing text: String, from peer: Peer) throws(Problem) -> Caller {
    let known = verified.recall(text)
    // A signature costs more than all else that a stranger can ask for.
    if known == nil { try lookAtFailures(of: peer) }
    do throws(UserTokenFault) {
      let token: UserToken
      if let known { token = known } else { token = try verify(text) }
      try token.check(nowMs: clock.wallMs())
      return Caller(
        role: .device, app: token.app, user: token.user, name: token.user, address: peer.address,
        isSecure: peer.isSecure)
    } catch {
      let problem = Problem.unauthorized("the user token is refused: \(error)")
      // Phones whose tokens have ended guess nothing, and many may share an address.
      throw error.isForgeable ? failed(problem, from: peer) : problem
    }
  }

  private func verify(_ text: String) throws(UserTokenFault) -> UserToken {
    let token = try UserToken(text, keys: userTokens)
    verified.remember(token, as: text)
    return token
  }

  /// Nobody begins a session for a page of another site, in which its visitors would work as somebody else.
  private func nobody(_ head: RequestHead, _ peer: Peer) throws(Problem) -> Caller {
    if head.method != .get {
      try SiteCheck.check(head, host: proxies.host(of: head), mayBeSilent: true)
    }
    return peer.nobody
  }

  private func caller(
    ofSession secret: String, _ head: RequestHead, _ peer: Peer
  ) async throws(Problem) -> Caller {
    guard let id = try await keyID(ofSession: secret, peer), let key = try await key(id, peer),
      !key.role.isOfOneApp
    else { return try nobody(head, peer) }
    if head.method != .get { try SiteCheck.check(head, host: proxies.host(of: head)) }
    return caller(key, peer, session: SessionSecret(secret))
  }

  private func caller(_ key: AccessKey, _ peer: Peer, session: SessionSecret? = nil) -> Caller {
    Caller(
      role: Role(key.role), app: key.app, name: key.id, keyName: key.name, address: peer.address,
      isSecure: peer.isSecure, session: session)
  }

  /// The key of an id, as Redis had it at most `ServerLimits.keyBelievedMs` ago.
  private func key(_ id: String, _ peer: Peer) async throws(Problem) -> AccessKey? {
    switch keys.recall(id) {
    case .fresh(let key): return key
    case .stale: break
    case .unknown: try lookAtFailures(of: peer)
    }
    return try await readKey(id)
  }

  private func readKey(_ id: String) async throws(Problem) -> AccessKey? {
    try await keys.read(
      id,
      { [records] () async throws(Problem) in
        try await records.key(id)
      })
  }

  private func keyID(ofSession secret: String, _ peer: Peer) async throws(Problem) -> String? {
    switch sessions.recall(secret) {
    case .fresh(let id): return id
    case .stale: break
    case .unknown: try lookAtFailures(of: peer)
    }
    return try await readKeyID(ofSession: secret)
  }

  private func readKeyID(ofSession secret: String) async throws(Problem) -> String? {
    try await sessions.read(
      secret,
      { [records] () async throws(Problem) in
        try await records.sessionKeyID(secret)
      })
  }

  /// Whether a caller's key and session are still there, for an answer that goes on for long. While Redis is away they are
  /// taken to be. The caller has been let in before, so no rate is asked.
  package func holds(_ caller: Caller) async -> Bool {
    guard let role = caller.role, role != .device else { return caller.role != nil }
    do throws(Problem) {
      if let session = caller.session {
        guard try await readKeyID(ofSession: session.text) == caller.name else { return false }
      }
      return try await readKey(caller.name) != nil
    } catch {
      return true
    }
  }

  // MARK: Whether it may

  /// Lets a caller have a route, or says why not.
  /// - Parameter path: the parameters of the path, decoded.
  /// - Throws: 401 without a credential, 403 for a role that may not, 404 for another app, 429 when the caller's rate is used up.
  package func admit(
    _ caller: Caller, to route: APIRoute, path: [String: String]
  ) throws(Problem) {
    guard let role = caller.role else {
      let peer = Peer(address: caller.address, isSecure: caller.isSecure)
      guard route.access == .open else {
        throw failed(
          .unauthorized("this needs a key or a user token: authorization: Bearer KEY"), from: peer)
      }
      return try spend(.open, of: peer.rateName)
    }
    switch role {
    case .device: try spend(.device, of: "\(caller.app ?? "")/\(caller.user ?? "")")
    case .server: try spend(.server, of: caller.name)
    case .operatorLook, .operatorAct, .admin: try spend(.operators, of: caller.name)
    }
    guard case .roles(let roles) = route.access else { return }
    // First, so that no other answer tells which apps there are.
    if let app = path["app"], let own = caller.app, own != app { throw .unknownApp(app) }
    guard role.isAdmitted(to: roles) else {
      throw .forbidden("a caller of the role \(role.rawValue) may not do this: \(Self.need(roles))")
    }
    if route.pattern.parameters.contains("app") {
      if role == .device, let user = path["user"], user != caller.user {
        throw .forbidden("a user token is for its own user alone, whom its sub names")
      }
    } else if caller.app != nil {
      throw .forbidden("this needs a key for all apps: \(Self.need(roles))")
    }
  }

  private static func need(_ roles: Set<Role>) -> String {
    let names = Role.allCases.filter(roles.contains).map(\.rawValue)
    return "it takes \(names.joined(separator: " or "))"
  }

  // MARK: Rates

  func spend(_ plan: RatePlan, of name: String) throws(Problem) {
    if let wait = gauge.take(plan, of: name, nowMs: clock.steadyMs()) {
      throw .tooMany(plan, waitSeconds: wait)
    }
  }

  /// Counts a failure. - Returns: the problem to answer with: the given one, or that there were too many.
  func failed(_ problem: Problem, from peer: Peer) -> Problem {
    let wait = gauge.take(.failures, of: peer.rateName, nowMs: clock.steadyMs())
    return wait.map { .tooMany(.failures, waitSeconds: $0) } ?? problem
  }

  /// Looks for no name that is new, and verifies no token, while the sender has failed too often. What this server knows
  /// already goes on to be taken.
  private func lookAtFailures(of peer: Peer) throws(Problem) {
    if let wait = gauge.look(.failures, of: peer.rateName, nowMs: clock.steadyMs()) {
      throw .tooMany(.failures, waitSeconds: wait)
    }
  }
}

extension Role {
  init(_ role: KeyRole) {
    self =
      switch role {
      case .server: .server
      case .operatorLook: .operatorLook
      case .operatorAct: .operatorAct
      case .admin: .admin
      }
  }
}
