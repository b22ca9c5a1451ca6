internal import LocalServices
internal import Model

/// The simulated APNs, FCM, JPush and OAuth endpoint: decides about requests, knows nothing of sockets.
struct PushNetworks {
  let environment: PushEnvironment
  private(set) var script: SimulatorScript
  private var rules: RuleBook
  private var oauthRules: RuleBook
  private var developmentPrefix: [UInt8]?
  private var provider: ProviderTokenVerifier
  private var oauth: OAuthEndpoint
  private var jpush: JPushNetwork
  private var fcmQuota = FCMQuota()
  private var messageCount: Int64 = 0
  private(set) var bearerTokensIssued = 0
  private(set) var dryRuns = 0
  /// Requests to JPush that were recognised by their cids, and the pushes in them.
  private(set) var repeated = (requests: 0, pushes: 0)

  init(
    environment: PushEnvironment, script: SimulatorScript, provider: ProviderTokenVerifier,
    oauth: OAuthEndpoint, jpush: JPushNetwork
  ) {
    self.environment = environment
    self.provider = provider
    self.oauth = oauth
    self.jpush = jpush
    self.script = script
    rules = RuleBook(script)
    oauthRules = RuleBook(SimulatorScript())
    install(script)
  }

  var providerTokenVerifications: Int { provider.verifications }

  /// Sets the counters that it keeps.
  func count(in counters: inout SimulatorCounters) {
    counters.bearerTokensIssued = bearerTokensIssued
    counters.providerTokenVerifications = providerTokenVerifications
    counters.dryRuns = dryRuns
    counters.repeatedRequests = repeated.requests
    counters.repeatedPushes = repeated.pushes
  }

  /// Takes another script; what is left of the old one's `times` is forgotten.
  mutating func install(_ script: SimulatorScript) {
    self.script = script
    rules = RuleBook(script)
    var oauthScript = SimulatorScript()
    oauthScript.all = script.oauth
    oauthRules = RuleBook(oauthScript)
    developmentPrefix = script.developmentTokenPrefix.map { Array($0.utf8) }
    provider.intervalSeconds = script.providerTokenIntervalSeconds
    oauth.lifetimeSeconds = script.bearerLifetimeSeconds
    if script.revokesBearerTokens { oauth.revokeTokens() }
    jpush.install(script)
    fcmQuota.perSecond = script.fcmRequestsPerSecond
  }

  mutating func decide(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    rules.connection = connection.number
    if request.path.starts(with: FCMPath.prefix) {
      return decideFCM(request, &connection, nowSeconds: nowSeconds)
    }
    if request.path.starts(with: JPushNetwork.prefix) {
      return decideJPush(request, &connection, nowSeconds: nowSeconds)
    }
    if request.path.equals("/token") {
      return decideOAuth(request, &connection, nowSeconds: nowSeconds)
    }
    return decideAPNs(request, &connection, nowSeconds: nowSeconds)
  }

  // MARK: APNs

  private mutating func decideAPNs(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    // Looked at first, because any request with a good credential raises the stream limit.
    let refusal = authorise(request.headers.authorization, &connection, nowSeconds: nowSeconds)
    do throws(APNsReason) {
      let token = try APNsValidator.token(method: request.method, path: request.path)
      try connection.validator.check(request.headers)
      var bodyHash: UInt64 = 0
      if let body = request.body { bodyHash = try connection.validator.check(payload: body) }
      if let refusal { throw refusal }
      try checkEnvironment(token)
      let acceptance = Acceptance(
        network: .apns, token: token, topic: request.headers.topic!, bodyHash: bodyHash)
      return react(to: acceptance, ordinary: .apnsAccepted)
    } catch {
      return .answer(.apns(error))
    }
  }

  private mutating func authorise(
    _ authorization: UnsafeRawBufferPointer?, _ connection: inout ConnectionMemory,
    nowSeconds: Int64
  ) -> APNsReason? {
    guard let authorization else {
      guard connection.hasClientCertificate else { return .missingProviderToken }
      connection.isAuthorised = true
      return nil
    }
    if connection.providerToken == nil || !connection.authorization.matches(authorization) {
      do {
        connection.providerToken = nil
        connection.providerToken = try provider.token(for: authorization, nowSeconds: nowSeconds)
        connection.authorization.remember(authorization)
      } catch {
        return error
      }
    }
    guard let token = connection.providerToken else { return .invalidProviderToken }
    if let refusal = provider.check(token, nowSeconds: nowSeconds) { return refusal }
    if !connection.isAuthorised {
      connection.isAuthorised = true
      connection.teamID = token.owner.teamID
    }
    return connection.teamID == token.owner.teamID ? nil : .invalidProviderToken
  }

  private func checkEnvironment(_ token: UnsafeRawBufferPointer) throws(APNsReason) {
    guard let developmentPrefix else { return }
    guard token.starts(with: developmentPrefix) == (environment == .development) else {
      throw .badDeviceToken
    }
  }

  // MARK: FCM

  private mutating func decideFCM(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    guard let project = FCMPath.project(of: request.path), request.method.equals("POST") else {
      return .answer(Answer(status: 404, body: Array("<!DOCTYPE html><title>404</title>".utf8)))
    }
    do throws(FCMError) {
      try authorise(
        request.headers.authorization, project: project, &connection, nowSeconds: nowSeconds)
      if fcmQuota.isOver(project) { throw FCMError(status: 429, code: "QUOTA_EXCEEDED") }
      let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let body = request.body else {
        let acceptance = Acceptance(network: .fcm, token: nothing, topic: project, bodyHash: 0)
        let ordinary = accepted(project)
        return react(to: acceptance, ordinary: ordinary)
      }
      let message = try FCMMessage(body: body)
      let acceptance = Acceptance(
        network: .fcm, token: message.token, topic: project, bodyHash: BodyHash.of(body))
      let ordinary = accepted(project)
      var decision = react(to: acceptance, ordinary: ordinary)
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
    if connection.bearer == nil || !connection.authorization.matches(authorization) {
      connection.bearer = oauth.tokens.grant(for: authorization)
      connection.authorization.remember(authorization)
    }
    guard let grant = connection.bearer, oauth.tokens.isValid(grant, nowSeconds: nowSeconds) else {
      throw unauthenticated
    }
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

  // MARK: JPush

  private mutating func decideJPush(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    guard let isValidation = JPushNetwork.isValidation(request.path) else {
      return .answer(Answer(status: 404, body: Array("<!DOCTYPE html><title>404</title>".utf8)))
    }
    var standing: RateStanding?
    var decision: Decision
    do throws(JPushError) {
      let call = try jpush.admit(request, &connection, nowSeconds: nowSeconds)
      standing = call.standing
      guard !call.isOver else { throw JPushError(.rateExceeded) }
      let push = try request.body.map { (body) throws(JPushError) in
        try JPushRequest(body: body, appKey: call.appKey)
      }
      decision = react(to: push, request, isValidation: isValidation)
    } catch {
      decision = .answer(error.answer)
    }
    if case .answer(var answer) = decision.reaction {
      answer.rateStanding = standing
      if let seconds = answer.retryAfterSeconds {
        answer.rateStanding?.remaining = 0
        answer.rateStanding?.resetSeconds = seconds
        answer.retryAfterSeconds = nil
      }
      decision.reaction = .answer(answer)
    }
    return decision
  }

  /// - Parameter push: nil while the body has not come.
  private mutating func react(
    to push: JPushRequest?, _ request: IncomingRequest, isValidation: Bool
  ) -> Decision {
    if let push, let earlier = jpush.earlierAnswer(to: push) {
      repeated.requests += 1
      repeated.pushes += push.registrationIDs.count
      return .answer(earlier)
    }
    var delayMs = script.delayMs
    var targets: [UnsafeRawBufferPointer] = []
    for id in push?.registrationIDs ?? [UnsafeRawBufferPointer(start: nil, count: 0)] {
      guard !rules.isEmpty, let match = rules.take(token: id, network: .jpush) else {
        targets.append(id)
        continue
      }
      let rule = match.rule
      delayMs = rule.delayMs ?? delayMs
      // JPush says it of a request only when none of its targets is there.
      if rule.action == .answer, rule.status == 400, rule.reason == "1011" { continue }
      guard let scripted = scripted(match, network: .jpush, token: id) else {
        targets.append(id)
        continue
      }
      return Decision(reaction: scripted, delayMs: delayMs)
    }
    guard let first = targets.first else {
      return Decision(reaction: .answer(JPushError(.noTarget).answer), delayMs: delayMs)
    }
    let answer = jpush.accept(isValidation ? nil : push)
    guard !isValidation else {
      dryRuns += targets.count
      return Decision(reaction: .answer(answer), delayMs: delayMs)
    }
    let acceptance = Acceptance(
      network: .jpush, token: first, topic: Self.topic(of: push),
      bodyHash: request.body.map { BodyHash.of($0) } ?? 0,
      otherTokens: Array(targets.dropFirst()))
    return Decision(reaction: .answer(answer), acceptance: acceptance, delayMs: delayMs)
  }

  /// Returns what stands for a topic, which JPush has none of: what the accept log tells jobs apart by.
  private static func topic(of push: JPushRequest?) -> UnsafeRawBufferPointer {
    // The log's fields are separated by spaces.
    if let id = push?.collapseID, !id.isEmpty, id.allSatisfy({ (0x21...0x7e).contains($0) }) {
      return id
    }
    let environment: StaticString =
      push?.isForProduction ?? true ? "production" : "development"
    return UnsafeRawBufferPointer(
      start: environment.utf8Start, count: environment.utf8CodeUnitCount)
  }

  // MARK: OAuth

  private mutating func decideOAuth(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) -> Decision {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if let match = oauthRules.take(token: nothing, network: .fcm),
      let scripted = scripted(match, network: .fcm, token: nothing)
    {
      return Decision(reaction: scripted, delayMs: match.rule.delayMs ?? 0)
    }
    let answer = oauth.answer(
      method: request.method, body: request.body ?? nothing, nowSeconds: nowSeconds)
    if answer.status == 200 {
      bearerTokensIssued += 1
      connection.isAuthorised = true
    }
    return .answer(answer)
  }

  // MARK: The script's word

  private mutating func react(to push: Acceptance, ordinary: Answer) -> Decision {
    guard !rules.isEmpty, let match = rules.take(token: push.token, network: push.network) else {
      return Decision(
        reaction: .answer(ordinary), acceptance: push, delayMs: script.delayMs)
    }
    let delayMs = match.rule.delayMs ?? script.delayMs
    guard let scripted = scripted(match, network: push.network, token: push.token) else {
      return Decision(reaction: .answer(ordinary), acceptance: push, delayMs: delayMs)
    }
    return Decision(reaction: scripted, delayMs: delayMs)
  }

  /// Nil when the rule leaves the ordinary answer.
  private func scripted(
    _ match: RuleBook.Match, network: Network, token: UnsafeRawBufferPointer
  ) -> Decision.Reaction? {
    let rule = match.rule
    return switch rule.action {
    case .answer where network == .apns: match.apnsAnswer.map { .answer($0) }
    case .answer:
      rule.status.map { .answer(Answer(rule: rule, status: $0, network: network, token: token)) }
    case .stall: .stall
    case .reset: .reset(rule.resetCode)
    case .drop: .drop
    case .goAway: .goAway(rule.resetCode)
    }
  }
}
