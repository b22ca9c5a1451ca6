/// The simulated JPush, Push API v3: who calls, how often, and what was asked before. What becomes of a push is for
/// `PushNetworks` to say.
struct JPushNetwork {
  static let prefix: StaticString = "/v3/"
  private static let push: StaticString = "/v3/push"
  private static let validation: StaticString = "/v3/push/validate"

  private let apps: JPushApps
  private var quota = JPushQuota()
  private var repeated = RepeatedRequests()
  private var messageCount: Int64 = 0

  init(apps: JPushApps) { self.apps = apps }

  mutating func install(_ script: SimulatorScript) {
    quota.callsPerMinute = script.jpushCallsPerMinute
  }

  /// Whether the request only asks if it were accepted. Nil for a path that does not exist.
  static func isValidation(_ path: UnsafeRawBufferPointer) -> Bool? {
    path.equals(push) ? false : path.equals(validation) ? true : nil
  }

  /// Counts the call of an app. - Returns: the app's key, and the standing of its quota.
  mutating func admit(
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

  /// The answer to an earlier request with the same cid.
  func earlierAnswer(to request: JPushRequest) -> Answer? {
    request.cid.flatMap { repeated.answer(to: $0) }
  }

  /// The answer to a request that is accepted.
  mutating func accept(_ request: JPushRequest?) -> Answer {
    messageCount += 1
    var body = Array(#"{"sendno":"0","msg_id":""#.utf8)
    body.appendDecimal(messageCount)
    body.append(contentsOf: #""}"#.utf8)
    let answer = Answer(status: 200, body: body)
    if let cid = request?.cid { repeated.remember(answer, to: cid) }
    return answer
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
