internal import Model

/// The simulated FCM, and Google's token endpoint.
struct FCMNetwork: PlayedNetwork {
  static let network = Network.fcm
  static let paths = [
    "POST /v1/projects/<project>/messages:send  FCM HTTP v1",
    "POST /token                                OAuth",
  ]
  static let tokenPath: StaticString = "/token"
  private static var nothing: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private var oauth: OAuthEndpoint
  private var exchanges = ScriptedAnswers(SimulatorScript())
  private var quota = FCMQuota()
  private var messageCount: Int64 = 0
  private(set) var bearerTokensIssued = 0
  /// Messages that were only checked.
  private(set) var dryRuns = 0

  init(oauth: OAuthEndpoint) { self.oauth = oauth }

  init(_ accounts: NetworkAccounts) throws(SimulatorError) {
    var known: [ServiceAccount] = []
    for file in accounts.serviceAccountFiles {
      known.append(try ServiceAccount(json: BoundedFile.key(file), name: file))
    }
    self.init(oauth: OAuthEndpoint(accounts: known))
  }

  /// - Parameter exchange: for the token endpoint's requests.
  mutating func install(_ script: FCMScript, exchange: ScriptRule?) {
    var exchangeScript = SimulatorScript()
    exchangeScript.all = exchange
    exchanges = ScriptedAnswers(exchangeScript)
    oauth.lifetimeSeconds = script.bearerLifetimeSeconds
    if script.revokesBearerTokens { oauth.revokeTokens() }
    quota.perSecond = script.requestsPerSecond
  }

  mutating func decide(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory,
    _ answers: inout ScriptedAnswers, nowSeconds: Int64
  ) -> Decision {
    guard let project = FCMPath.project(of: request.path), request.method.equals("POST") else {
      return .answer(Answer(status: 404, body: Array("<!DOCTYPE html><title>404</title>".utf8)))
    }
    do throws(FCMError) {
      try authorise(
        request.headers.authorization, project: project, &connection, nowSeconds: nowSeconds)
      if quota.isOver(project) { throw FCMError(status: 429, code: "QUOTA_EXCEEDED") }
      guard let body = request.body else {
        let acceptance = Acceptance(
          network: Self.network, token: Self.nothing, topic: project, bodyHash: 0)
        return answers.react(to: acceptance, at: Self.self, ordinary: accepted(project))
      }
      let message = try FCMMessage(body: body)
      let acceptance = Acceptance(
        network: Self.network, token: message.token, topic: project, bodyHash: BodyHash.of(body))
      var decision = answers.react(to: acceptance, at: Self.self, ordinary: accepted(project))
      if message.isDryRun, decision.acceptance != nil {
        decision.acceptance = nil
        dryRuns += 1
      }
      return decision
    } catch {
      return .answer(error.answer)
    }
  }

  private func authorise(
    _ authorization: UnsafeRawBufferPointer?, project: UnsafeRawBufferPointer,
    _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) throws(FCMError) {
    let unauthenticated = FCMError(
      status: 401,
      message: "Request had invalid authentication credentials. Expected OAuth 2 access token.")
    guard let authorization else { throw unauthenticated }
    guard oauth.isRequired else {
      connection.isAuthorised = true
      return
    }
    if connection.fcmBearer == nil || !connection.authorization.matches(authorization) {
      connection.fcmBearer = oauth.tokens.grant(for: authorization)
      connection.authorization.remember(authorization)
    }
    guard let grant = connection.fcmBearer, oauth.tokens.isValid(grant, nowSeconds: nowSeconds)
    else { throw unauthenticated }
    var projectID = grant.projectID
    guard projectID.withUTF8({ project.equals(UnsafeRawBufferPointer($0)) }) else {
      throw FCMError(
        status: 403, message: "Permission 'cloudmessaging.messages.create' denied on the project.")
    }
    connection.isAuthorised = true
  }

  private mutating func accepted(_ project: UnsafeRawBufferPointer) -> Answer {
    messageCount += 1
    var body: [UInt8] = []
    body.reserveCapacity(project.count + 64)
    body.append(contentsOf: "{\"name\":\"projects/".utf8)
    body.append(contentsOf: project)
    body.append(contentsOf: "/messages/0:".utf8)
    body.appendDecimal(messageCount)
    body.append(contentsOf: "\"}".utf8)
    return Answer(status: 200, body: body)
  }

  static func body(
    of rule: ScriptRule, status: Int, reason: String, token: UnsafeRawBufferPointer
  ) -> [UInt8] {
    FCMError(status: status, code: reason, fieldViolation: rule.fieldViolation).body
  }

  // MARK: The token endpoint

  mutating func exchange(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    if let match = exchanges.take(Self.nothing, Self.network),
      let scripted = exchanges.reaction(of: match, to: Self.nothing, at: Self.self)
    {
      return Decision(reaction: scripted, delayMs: match.rule.delayMs ?? 0)
    }
    let answer = oauth.answer(
      method: request.method, body: request.body ?? Self.nothing, nowSeconds: nowSeconds)
    if answer.status == 200 {
      bearerTokensIssued += 1
      connection.isAuthorised = true
    }
    return .answer(answer)
  }
}
