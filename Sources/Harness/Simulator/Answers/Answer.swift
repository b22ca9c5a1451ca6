/// The answer that goes back on one stream.
struct Answer {
  var status: Int
  var body: [UInt8] = []
  /// Nil for JSON's, where there is a body.
  var contentType: String?
  var retryAfterSeconds: Int?
  /// JPush's answers have it.
  var rateStanding: RateStanding?

  /// Makes the answer of a rule with a status, at this network to a push to this token.
  init<Played: PlayedNetwork>(
    rule: ScriptRule, status: Int, at network: Played.Type, token: UnsafeRawBufferPointer
  ) {
    self.status = status
    contentType = rule.contentType
    retryAfterSeconds = rule.retryAfterSeconds
    if let text = rule.body {
      body = Array(text.utf8)
    } else if let reason = rule.reason {
      body = Played.body(of: rule, status: status, reason: reason, token: token)
    }
  }

  init(status: Int, body: [UInt8] = [], retryAfterSeconds: Int? = nil) {
    self.status = status
    self.body = body
    self.retryAfterSeconds = retryAfterSeconds
  }
}
