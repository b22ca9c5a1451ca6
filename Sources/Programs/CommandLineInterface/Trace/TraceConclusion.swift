internal import Model
internal import Store

/// What can be said of one installation, or of a user as a whole, from a trace.
struct TraceConclusion: Sendable {
  /// For programs.
  enum Code: String, Sendable {
    case accepted, rejected, uninstalled, expired, skipped, failed
    /// The network called the token dead; whether it was removed is not recorded.
    case invalid
    /// To be sent, again or at all.
    case waiting
    /// Sent, and no answer is recorded.
    case unanswered
    /// Something is recorded, but not how it ended.
    case unfinished
    /// Nothing is recorded, and nothing else that could have happened is unexplained.
    case acceptedIfMeant = "accepted_if_meant"
    /// Nothing is recorded and something else than an accept is possible.
    case noRecord = "no_record"
    /// It cannot have got the job.
    case notSent = "not_sent"
  }

  var network: Network?
  /// Empty for a user as a whole.
  var token = ""
  var code: Code
  /// A clause without a full stop.
  var text: String
}
