internal import Model

/// The simulated JPush, Push API v3.
struct JPushNetwork: PlayedNetwork {
  static let network = Network.jpush
  static let paths = ["POST /v3/push, /v3/push/validate           JPush, Push API v3"]
  static let prefix: StaticString = "/v3/"
  private static let push: StaticString = "/v3/push"
  private static let validation: StaticString = "/v3/push/validate"

  private let apps: JPushApps
  private var quota = JPushQuota()
  private var repeated = RepeatedRequests()
  private var messageCount: Int64 = 0
  /// Pushes that were only checked.
  private(set) var dryRuns = 0
  /// Requests that were recognised by their cids, and the pushes in them.
  private(set) var repeats = (requests: 0, pushes: 0)

  init(apps: JPushApps) { self.apps = apps }

  init(_ accounts: NetworkAccounts) throws(SimulatorError) {
    var secrets: [String: String] = [:]
    for app in accounts.jpushApps {
      let secret = String(decoding: try BoundedFile.key(app.secretFile), as: UTF8.self)
      secrets[app.appKey] = String(secret.prefix { !$0.isNewline })
    }
    self.init(apps: JPushApps(secrets: secrets))
  }

  mutating func install(_ script: JPushScript) { quota.callsPerMinute = script.callsPerMinute }

  mutating func decide(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory,
    _ answers: inout ScriptedAnswers, nowSeconds: Int64
  ) -> Decision {
    let isValidation = request.path.equals(Self.validation)
    guard isValidation || request.path.equals(Self.push) else {
      return .answer(Answer(status: 404, body: Array("<!DOCTYPE html><title>404</title>".utf8)))
    }
    var standing: RateStanding?
    var decision: Decision
    do throws(JPushError) {
      let call = try admit(request, &connection, nowSeconds: nowSeconds)
      standing = call.standing
      guard !call.isOver else { throw JPushError(.rateExceeded) }
      let push = try request.body.map { (body) throws(JPushError) in
        try JPushRequest(body: body, appKey: call.appKey)
      }
      decision = react(to: push, request, &answers, isValidation: isValidation)
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

  /// Counts the call of an app. - Returns: the app's key, and the standing of its quota.
  private mutating func admit(
    _ request: IncomingRequest, _ connection: inout ConnectionMemory, nowSeconds: Int64
  ) throws(JPushError) -> (appKey: String, standing: RateStanding, isOver: Bool) {
    guard request.method.equals("POST") else { throw JPushError(.methodNotAllowed) }
    let authorization = request.headers.authorization
    if connection.jpushAppKey == nil
      || !(authorization.map { connection.authorization.matches($0) } ?? false)
    {
      connection.jpushAppKey = nil
      connection.jpushAppKey = try apps.appKey(of: authorization)
      authorization.map { connection.authorization.remember($0) }
    }
    guard let appKey = connection.jpushAppKey else { throw JPushError(.authenticationFailed) }
    connection.isAuthorised = true
    let (standing, isOver) = quota.take(appKey, nowSeconds: nowSeconds)
    return (appKey, standing, isOver)
  }

  /// - Parameter push: nil while the body has not come.
  private mutating func react(
    to push: JPushRequest?, _ request: IncomingRequest, _ answers: inout ScriptedAnswers,
    isValidation: Bool
  ) -> Decision {
    if let push, let earlier = push.cid.flatMap({ repeated.answer(to: $0) }) {
      repeats.requests += 1
      repeats.pushes += push.registrationIDs.count
      return .answer(earlier)
    }
    var delayMs = answers.delayMs
    var targets: [UnsafeRawBufferPointer] = []
    for id in push?.registrationIDs ?? [UnsafeRawBufferPointer(start: nil, count: 0)] {
      guard !answers.isEmpty, let match = answers.take(id, Self.network) else {
        targets.append(id)
        continue
      }
      let rule = match.rule
      delayMs = rule.delayMs ?? delayMs
      // JPush says it of a request only when none of its targets is there.
      if rule.action == .answer, rule.status == 400, rule.reason == "1011" { continue }
      guard let scripted = answers.reaction(of: match, to: id, at: Self.self) else {
        targets.append(id)
        continue
      }
      return Decision(reaction: scripted, delayMs: delayMs)
    }
    guard let first = targets.first else {
      return Decision(reaction: .answer(JPushError(.noTarget).answer), delayMs: delayMs)
    }
    let answer = accept(isValidation ? nil : push)
    guard !isValidation else {
      dryRuns += targets.count
      return Decision(reaction: .answer(answer), delayMs: delayMs)
    }
    let acceptance = Acceptance(
      network: Self.network, token: first, topic: Self.topic(of: push),
      bodyHash: request.body.map { BodyHash.of($0) } ?? 0,
      otherTokens: Array(targets.dropFirst()))
    return Decision(reaction: .answer(answer), acceptance: acceptance, delayMs: delayMs)
  }

  /// The answer to a request that is accepted.
  private mutating func accept(_ request: JPushRequest?) -> Answer {
    messageCount += 1
    var body = Array(#"{"sendno":"0","msg_id":""#.utf8)
    body.appendDecimal(messageCount)
    body.append(contentsOf: #""}"#.utf8)
    let answer = Answer(status: 200, body: body)
    if let cid = request?.cid { repeated.remember(answer, to: cid) }
    return answer
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

  static func body(
    of rule: ScriptRule, status: Int, reason: String, token: UnsafeRawBufferPointer
  ) -> [UInt8] {
    JPushError(status: status, code: Int(reason) ?? 0, registrationID: token).answer.body
  }
}

/// The answers to accepted requests with a `cid`, which is how a repeated one is recognised: it gets the first one's
/// answer and is not delivered again (docs.jiguang.cn/jpush/server/push/rest_api_v3_push, "cid").
struct RepeatedRequests {
  private var answers: [[UInt8]: Answer] = [:]
  private var order: [[UInt8]] = []
  private var next = 0

  /// The answer to the first request with this cid; nil for a cid that is new.
  func answer(to cid: UnsafeRawBufferPointer) -> Answer? { answers[[UInt8](cid)] }

  mutating func remember(_ answer: Answer, to cid: UnsafeRawBufferPointer) {
    let cid = [UInt8](cid)
    if order.count < SimulatorLimits.jpushCIDsMax {
      order.append(cid)
    } else {
      answers[order[next]] = nil
      order[next] = cid
      next = (next + 1) % order.count
    }
    answers[cid] = answer
  }
}
