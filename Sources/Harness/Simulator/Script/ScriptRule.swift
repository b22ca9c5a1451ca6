package import Model

/// A rule for what the simulator does with the pushes to some tokens, or with all of them.
package struct ScriptRule: Sendable, Equatable {
  package enum Action: String, Sendable, CaseIterable {
    /// Answers: as an ordinary push when `status` is nil.
    case answer
    /// Never answers; the stream stays open.
    case stall
    /// Resets the stream with `resetCode` instead of answering.
    case reset
    /// Cuts the TCP connection instead of answering.
    case drop
    /// Says GOAWAY with `resetCode` instead of answering, and closes the connection.
    case goAway = "goaway"
  }

  /// The tokens it is for: those that begin so, byte for byte; empty for all.
  package var tokenPrefix = ""
  /// The network it is for; nil for all.
  package var network: Network?
  /// The connection it is for, numbered from 1 as they are opened; nil for all.
  package var connection: Int?
  package var action = Action.answer
  /// HTTP status of the answer; nil for the ordinary answer, which counts as an accept.
  package var status: Int?
  /// APNs' `reason`, FCM's `errorCode` or JPush's `code`; nil leaves the answer without a body.
  package var reason: String?
  /// APNs: `timestamp` of a 410, in epoch milliseconds.
  package var timestampMs: Int64?
  /// JPush's goes out as X-Rate-Limit-Reset.
  package var retryAfterSeconds: Int?
  /// The body as it stands, instead of the network's own form: a proxy's error page, say.
  package var body: String?
  /// The content-type that the answer says it has; nil for JSON's, which an answer without a body leaves out.
  package var contentType: String?
  /// FCM: adds a google.rpc.BadRequest detail that blames this field.
  package var fieldViolation: String?
  /// HTTP/2 error code of `reset` and `goaway` (RFC 9113, 7); 1 is PROTOCOL_ERROR, 2 INTERNAL_ERROR, 7 REFUSED_STREAM.
  package var resetCode: UInt32 = 2
  /// How long the answer takes; nil for the script's `delayMs`.
  package var delayMs: UInt64?
  /// How many requests it applies to, then never again; nil without end.
  package var times: Int?
  /// The share of matching requests that it applies to, 0 to 1.
  package var probability = 1.0
  /// To how many matching requests in a row it applies once the dice say so. The share stays as it is.
  package var burst = 1

  package init() {}

  /// A rule that answers with an error.
  package init(
    tokenPrefix: String = "", network: Network? = nil, status: Int, reason: String? = nil,
    timestampMs: Int64? = nil, retryAfterSeconds: Int? = nil, times: Int? = nil
  ) {
    self.tokenPrefix = tokenPrefix
    self.network = network
    self.status = status
    self.reason = reason
    self.timestampMs = timestampMs
    self.retryAfterSeconds = retryAfterSeconds
    self.times = times
  }

  /// A rule that does something else than answering.
  package init(tokenPrefix: String = "", action: Action, times: Int? = nil) {
    self.tokenPrefix = tokenPrefix
    self.action = action
    self.times = times
  }
}
