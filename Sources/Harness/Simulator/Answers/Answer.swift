internal import Model

/// The answer that goes back on one stream.
struct Answer {
  var status: Int
  var body: [UInt8] = []
  /// Nil for JSON's, where there is a body.
  var contentType: String?
  var retryAfterSeconds: Int?
  /// JPush's answers have it.
  var rateStanding: RateStanding?

  /// APNs' answer to an accepted push: no body.
  static let apnsAccepted = Answer(status: 200)

  private static let reasonAnswers: [APNsReason: Answer] = Dictionary(
    uniqueKeysWithValues: APNsReason.allCases.map {
      ($0, Answer(status: $0.status, body: Array("{\"reason\":\"\($0.rawValue)\"}".utf8)))
    })

  static func apns(_ reason: APNsReason) -> Answer { reasonAnswers[reason]! }

  /// Makes the answer of a rule with a status, on this network to a push to this token.
  init(rule: ScriptRule, status: Int, network: Network, token: UnsafeRawBufferPointer) {
    self.status = status
    contentType = rule.contentType
    retryAfterSeconds = rule.retryAfterSeconds
    if let text = rule.body {
      body = Array(text.utf8)
    } else if let reason = rule.reason {
      body =
        switch network {
        case .apns: Self.apnsBody(reason: reason, timestampMs: rule.timestampMs)
        case .fcm: FCMError(status: status, code: reason, fieldViolation: rule.fieldViolation).body
        case .jpush:
          JPushError(status: status, code: Int(reason) ?? 0, registrationID: token).answer.body
        }
    }
  }

  init(status: Int, body: [UInt8] = [], retryAfterSeconds: Int? = nil) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
  }

  private static func apnsBody(reason: String, timestampMs: Int64?) -> [UInt8] {
    var object: JSONObject = ["reason": .string(reason)]
    if let timestampMs { object["timestamp"] = .integer(timestampMs) }
    return JSONValue.object(object).bytes()
  }
}
