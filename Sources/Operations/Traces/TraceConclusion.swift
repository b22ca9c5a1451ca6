package import Model
package import Store

/// A conclusion from a trace about one installation, or about a user as a whole.
package struct TraceConclusion: Sendable, Equatable {
  /// For programs.
  package enum Code: String, Sendable {
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
    /// The installation cannot have got the job.
    case notSent = "not_sent"
  }

  /// The grounds that a conclusion is drawn from.
  package enum Grounds: Sendable, Equatable {
    /// The last event decides nothing: the push was sent then.
    case sent(TraceEvent?)
    /// The event that decided, and the last attempt up to it.
    case decided(TraceEvent, lastAttempt: TraceEvent?)
    /// Nothing is recorded: the job leaves out installations of this environment.
    case otherEnvironment(PushEnvironment)
    /// Nothing is recorded: the job is for tokens of another kind than this one's.
    case otherKind(TokenKind)
    /// Nothing is recorded of the token, but of its user as a whole.
    case userAsAWhole
    /// Nothing is recorded: it was installed after the job had ended.
    case installedLater
    /// Nothing is recorded, and there is something else than a plain accept that could be behind that.
    case doubts([TraceDoubt])
    /// Nothing is recorded, although all attempts of the job are.
    case absentFromFullTrace
    /// Nothing is recorded, and the job has no accepts.
    case noAccepts
    /// Nothing is recorded, as of what is accepted at the first attempt.
    case plainAccept
  }

  package internal(set) var network: Network?
  /// Empty for a user as a whole.
  package internal(set) var token = ""
  package internal(set) var code: Code
  package let grounds: Grounds
  /// False when nothing is recorded of the subject and it has no installation now.
  package internal(set) var isInstalled = true
}
