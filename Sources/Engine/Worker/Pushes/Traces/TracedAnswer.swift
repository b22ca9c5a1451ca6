internal import HTTP2
internal import Model
internal import Store

/// The answer, or its absence, that the decision being made follows from.
struct TracedAnswer {
  let kind: TraceKind
  let status: Int
  /// The network's word; empty when there is none.
  let reason: String
  let elapsedNs: UInt64

  /// - Parameter classification: nil when no answer came.
  init(_ answer: RequestAnswer, _ classification: Classification?) {
    switch answer.disposition {
    case .answered: kind = .answered
    case .unknown: kind = .unanswered
    case .notSent, .malformed: kind = .unprocessed
    }
    status = answer.content.status
    reason = Self.reason(classification)
    elapsedNs = answer.elapsedNs
  }

  private static func reason(_ classification: Classification?) -> String {
    switch classification {
    case .invalidToken(let reason, _), .doubtfulToken(let reason), .rejected(let reason),
      .retry(_, let reason), .authRefused(let reason), .foreign(let reason):
      reason
    case .accepted, nil: ""
    }
  }
}
