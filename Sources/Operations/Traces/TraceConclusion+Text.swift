internal import Model
internal import Store
internal import Typesetting

// What a trace comes to, in words. Each sentence says no more than is known.
extension TraceConclusion {
  /// A clause without a full stop.
  package func text(of job: TracedJob) -> String {
    let text =
      switch grounds {
      case .sent(let event): Self.sent(event, job)
      case .decided(let event, let attempt): Self.decided(event, attempt, job)
      case .otherEnvironment(let environment):
        "not meant: the job leaves \(environment.rawValue) installations out"
      case .otherKind(let kind):
        "not meant: it is a token of kind \(kind.rawValue), and the job is for another"
      case .userAsAWhole: "no attempt of this token was recorded: see its user above"
      case .installedLater:
        "no attempt of this token was recorded, and it was installed after the job had ended; "
          + "whether it had been before and was uninstalled meanwhile is not kept"
      case .doubts(let doubts): Self.doubtful(doubts, job)
      case .absentFromFullTrace:
        "not sent: the job says trace: true, its trace is complete, and no attempt is in it"
      case .noAccepts: "not sent: the job has no accepted push, and all others are recorded"
      case .plainAccept:
        "\(Self.rule); all pushes of this job that ended otherwise are recorded, so if it was "
          + "in the audience and installed then, it was accepted at the first attempt"
      }
    return isInstalled ? text : Self.notInstalled(text, job)
  }

  // MARK: From events

  private static func sent(_ event: TraceEvent?, _ job: TracedJob) -> String {
    let at = event.map { " " + job.moment($0.atMs) } ?? ""
    return "sent\(at); no answer is recorded: it is on its way, or its worker was lost"
  }

  private static func decided(
    _ event: TraceEvent, _ attempt: TraceEvent?, _ job: TracedJob
  ) -> String {
    let why = why(event)
    let at = job.moment(event.atMs)
    switch event.decision {
    case .accepted:
      return "accepted by \(event.network?.rawValue ?? "the network") \(at), at attempt "
        + "\(event.attempt)"
    case .rejected: return "rejected for good \(at)\(why)"
    case .kept where event.cause == .massDeath:
      return "called dead by its network\(why): kept, and counted as rejected \(at)"
    case .kept:
      return "called dead by its network\(why), but bound anew after it was sent: kept, and "
        + "counted as rejected \(at)"
    case .uninstalled: return "uninstalled \(at): its network called the token dead\(why)"
    case .expired: return "expired \(at)\(why)\(attempts(attempt, job))"
    case .skipped: return "skipped \(at)\(why)"
    case .failed: return "given up as failed \(at)\(why)"
    case .uninstall:
      return "its network called the token dead \(at)\(why): the store was asked to remove it, "
        + "and what it did is not recorded"
    case .retry, .deferred, .resend, nil: return open(event, why, job)
    }
  }

  /// Behind an expiry: what the attempts before it came to.
  private static func attempts(_ sent: TraceEvent?, _ job: TracedJob) -> String {
    guard let sent, sent.attempt > 0 else { return "" }
    let times = sent.attempt == 1 ? "once" : "\(sent.attempt) times"
    return "; it was sent \(times), last \(job.moment(sent.atMs))\(why(sent))"
  }

  private static func open(_ event: TraceEvent, _ why: String, _ job: TracedJob) -> String {
    let what = event.decision == .deferred ? "put aside" : "to be sent again"
    let at = job.moment(event.atMs)
    guard !job.record.state.isFinal else {
      return "\(what) \(at)\(why); how it ended is not recorded, although the job is "
        + job.record.state.rawValue + missing(job)
    }
    let dueMs = event.atMs + Int64(event.delayMs ?? 0)
    let due = event.delayMs.map { $0 > 0 ? ", due \(job.moment(dueMs))" : "" } ?? ""
    return "waiting: \(what) \(at)\(due)\(why)"
  }

  /// Behind what has no recorded end: the gaps of the trace, which may hold it.
  private static func missing(_ job: TracedJob) -> String {
    let gaps = job.reading.gaps
    guard !gaps.isEmpty else { return "" }
    let clauses = gaps.map { TraceDoubt.gap($0).text(of: job) }
    return "; " + clauses.joined(separator: "; ") + "; an accept may be among what is missing"
  }

  /// Behind what happened: the network's answer and the cause.
  private static func why(_ event: TraceEvent) -> String {
    var parts: [String] = []
    switch event.kind {
    case .answered where event.decision != .accepted:
      parts.append(
        event.reason.isEmpty ? "\(event.status)" : "\(event.status) \(event.reason)")
    case .unanswered: parts.append("no answer came")
    case .unprocessed: parts.append("the network did not process it")
    case .settled where !event.reason.isEmpty: parts.append(event.reason)
    case .sent, .answered, .decided, .settled, .omitted: break
    }
    if event.cause == .expired, event.attempt > 1 {
      parts.append("the job had expired before attempt \(event.attempt)")
    } else if let cause = event.cause {
      parts.append(cause.explanation)
    }
    return parts.isEmpty ? "" : " (" + parts.joined(separator: ", ") + ")"
  }

  // MARK: Without events

  private static let rule =
    "no attempt of this token was recorded: a plain first-attempt accept leaves no record unless "
    + "the job says trace: true"

  private static func doubtful(_ doubts: [TraceDoubt], _ job: TracedJob) -> String {
    let rule =
      job.content?.trace == true
      ? "no attempt is recorded, although the job says trace: true" : rule
    return ([rule] + doubts.map { $0.text(of: job) }).joined(separator: "; ")
  }

  private static func notInstalled(_ text: String, _ job: TracedJob) -> String {
    let isUser = if case .user = job.reading.subject { true } else { false }
    let now = isUser ? "the user has no installation now" : "the token is not installed now"
    let without = job.record.counts.noInstallations
    guard isUser, without > 0 else { return "\(now), and \(text)" }
    return "\(now), and \(text); the job counted \(FigureText.count(without)) users without an "
      + "installation"
  }
}

extension TracedJob {
  /// `at +1.2 s`: after the job was made.
  fileprivate func moment(_ atMs: Int64) -> String {
    guard let createdAtMs = record.createdAtMs else {
      return "at \(InstantText.rfc3339(ms: atMs))"
    }
    return "at +\(FigureText.duration(ms: atMs - createdAtMs))"
  }
}
