/// How the simulator misbehaves. Every number of requests counts per connection, from 1.
///
/// The empty script is a provider in perfect health.
package struct SimulatorScript: Sendable, Equatable {
  /// SETTINGS_MAX_CONCURRENT_STREAMS becomes `value` when `after` requests have come.
  package struct StreamLimitStep: Sendable, Equatable {
    package var after: Int
    package var value: UInt32

    package init(after: Int, value: UInt32) {
      self.after = after
      self.value = value
    }
  }

  /// The `times` requests that follow the first `after` are reset with `code`.
  package struct Resets: Sendable, Equatable {
    package var after: Int
    package var code: UInt32
    package var times: Int

    package init(after: Int, code: UInt32, times: Int = 1) {
      self.after = after
      self.code = code
      self.times = times
    }
  }

  /// The first rule that matches a push decides.
  package var rules: [ScriptRule] = []
  /// For every push that no rule matched.
  package var all: ScriptRule?
  /// For the OAuth endpoint's requests.
  package var oauth: ScriptRule?
  /// How long each answer takes.
  package var delayMs: UInt64 = 0
  /// After so many requests nothing is answered any more; 0 from the start.
  package var stallAfter: Int?
  /// After so many requests nothing is read from the socket any more.
  package var stopReadingAfter: Int?
  /// GOAWAY after so many requests.
  package var goAwayAfter: Int?
  /// Whether the request that triggers the GOAWAY is still processed; else it and all above are not.
  package var goAwayProcessesLast = true
  /// The GOAWAY's debug data is `{"reason": …}` when this is not nil.
  package var goAwayReason: String?
  package var maxConcurrentStreams: [StreamLimitStep] = []
  package var resets: Resets?
  /// Answers from the headers alone, then RST_STREAM(NO_ERROR) (RFC 9113, 8.1).
  package var answersEarly = false
  /// The TCP connection is cut when so many requests have come, the last unprocessed; 0 at once.
  package var dropConnectionAfter: Int?
  /// The request of this number is accepted and logged, then the connection is cut unanswered.
  package var closeWithoutAnswerAfter: Int?
  /// The connection is cut after so many answers with status 400, as APNs does.
  package var dropConnectionAfterBadRequests: Int?
  /// The parts that are for one network each.
  package var networks = NetworkScripts()
  /// Seed of the dice behind `probability`.
  package var seed: UInt64 = 1

  package init() {}
}
