internal import Model
internal import Store

// What follows from the events of a subject, and from there being none. Each sentence says no more than is known.
extension TracedJob {
  /// One for each token that has events or is installed now; one for a user or token with neither.
  func conclusions() -> [TraceConclusion] {
    var order: [DeviceToken] = []
    var groups: [DeviceToken: [TraceEvent]] = [:]
    var whole: [TraceEvent] = []
    for event in reading.events {
      guard let network = event.network, !event.token.isEmpty else {
        whole.append(event)
        continue
      }
      let token = DeviceToken(stored: event.token, network: network)
      if groups[token] == nil { order.append(token) }
      groups[token, default: []].append(event)
    }
    var conclusions = order.map { token in
      var conclusion = conclude(groups[token] ?? [])
      conclusion.network = token.network
      conclusion.token = token.text
      return conclusion
    }
    if !whole.isEmpty { conclusions.insert(conclude(whole), at: 0) }
    for installation in installations where groups[installation.token] == nil {
      var conclusion = concludeWithoutEvents(installation, isWholeKnown: !whole.isEmpty)
      conclusion.network = installation.token.network
      conclusion.token = installation.token.text
      conclusions.append(conclusion)
    }
    return conclusions.isEmpty ? [concludeWithoutAnything()] : conclusions
  }

  // MARK: From events

  private func conclude(_ events: [TraceEvent]) -> TraceConclusion {
    let end = events.last { $0.decision?.isFinal == true } ?? events.last { $0.decision != nil }
    guard let event = end, let decision = event.decision else {
      let at = events.last.map { " " + moment($0.atMs) } ?? ""
      return TraceConclusion(
        code: .unanswered,
        text: "sent\(at); no answer is recorded: it is on its way, or its worker was lost")
    }
    let why = why(event)
    let at = moment(event.atMs)
    switch decision {
    case .accepted:
      return TraceConclusion(
        code: .accepted,
        text: "accepted by \(event.network?.rawValue ?? "the network") \(at), at attempt "
          + "\(event.attempt)")
    case .rejected:
      return TraceConclusion(code: .rejected, text: "rejected for good \(at)\(why)")
    case .kept where event.cause == .massDeath:
      return TraceConclusion(
        code: .rejected,
        text: "called dead by its network\(why): kept, and counted as rejected \(at)")
    case .kept:
      return TraceConclusion(
        code: .rejected,
        text: "called dead by its network\(why), but bound anew after it was sent: kept, and "
          + "counted as rejected \(at)")
    case .uninstalled:
      return TraceConclusion(
        code: .uninstalled, text: "uninstalled \(at): its network called the token dead\(why)")
    case .expired:
      return TraceConclusion(code: .expired, text: "expired \(at)\(why)\(attempts(events, event))")
    case .skipped: return TraceConclusion(code: .skipped, text: "skipped \(at)\(why)")
    case .failed: return TraceConclusion(code: .failed, text: "given up as failed \(at)\(why)")
    case .uninstall:
      return TraceConclusion(
        code: .invalid,
        text: "its network called the token dead \(at)\(why): the store was asked to remove it, "
          + "and what it did is not recorded")
    case .retry, .deferred, .resend: return concludeOpen(event, decision, why)
    }
  }

  /// Behind an expiry: what the attempts before it came to.
  private func attempts(_ events: [TraceEvent], _ end: TraceEvent) -> String {
    let sent = events.last {
      $0.atMs <= end.atMs && ($0.kind == .answered || $0.kind == .unanswered)
    }
    guard let sent, sent.attempt > 0 else { return "" }
    let times = sent.attempt == 1 ? "once" : "\(sent.attempt) times"
    return "; it was sent \(times), last \(moment(sent.atMs))\(why(sent))"
  }

  private func concludeOpen(
    _ event: TraceEvent, _ decision: TraceDecision, _ why: String
  ) -> TraceConclusion {
    let what = decision == .deferred ? "put aside" : "to be sent again"
    guard !record.state.isFinal else {
      return TraceConclusion(
        code: .unfinished,
        text: "\(what) \(moment(event.atMs))\(why); how it ended is not recorded, although the job "
          + "is \(record.state.rawValue)")
    }
    let dueMs = event.atMs + Int64(event.delayMs ?? 0)
    let due = event.delayMs.map { $0 > 0 ? ", due \(moment(dueMs))" : "" } ?? ""
    return TraceConclusion(
      code: .waiting, text: "waiting: \(what) \(moment(event.atMs))\(due)\(why)")
  }

  /// Behind what happened: the network's answer and the cause.
  private func why(_ event: TraceEvent) -> String {
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

  /// `at +1.2 s`: after the job was made.
  func moment(_ atMs: Int64) -> String {
    guard let createdAtMs = record.createdAtMs else {
      return "at \(InstantText.rfc3339(ms: atMs))"
    }
    return "at +\(FigureText.duration(ms: atMs - createdAtMs))"
  }

  // MARK: Without events

  private static let rule =
    "no attempt of this token was recorded: a plain first-attempt accept leaves no record unless "
    + "the job says trace: true"

  private func concludeWithoutEvents(
    _ installation: Installation, isWholeKnown: Bool
  ) -> TraceConclusion {
    if let content, !content.environments.contains(installation.environment) {
      return TraceConclusion(
        code: .notSent,
        text: "not meant: the job leaves \(installation.environment.rawValue) installations out")
    }
    if isWholeKnown {
      return TraceConclusion(
        code: .notSent, text: "no attempt of this token was recorded: see its user above")
    }
    if let finishedAtMs = record.finishedAtMs, let sinceMs = installation.createdAtMs,
      sinceMs > finishedAtMs
    {
      return TraceConclusion(
        code: .noRecord,
        text:
          "no attempt of this token was recorded, and it was installed after the job had ended; "
          + "whether it had been before and was uninstalled meanwhile is not kept")
    }
    return concludeWithoutRecord()
  }

  private func concludeWithoutAnything() -> TraceConclusion {
    var conclusion = concludeWithoutRecord()
    let isUser = if case .user = reading.subject { true } else { false }
    let now = isUser ? "the user has no installation now" : "the token is not installed now"
    if conclusion.code == .acceptedIfMeant { conclusion.code = .noRecord }
    conclusion.text = "\(now), and \(conclusion.text)"
    if isUser, record.counts.noInstallations > 0 {
      conclusion.text +=
        "; the job counted \(FigureText.count(record.counts.noInstallations)) users without an "
        + "installation"
    }
    return conclusion
  }

  private func concludeWithoutRecord() -> TraceConclusion {
    let doubts = doubts()
    if content?.trace == true {
      guard doubts.isEmpty else {
        return TraceConclusion(
          code: .noRecord,
          text: "no attempt is recorded, although the job says trace: true; "
            + doubts.joined(separator: "; "))
      }
      return TraceConclusion(
        code: .notSent,
        text: "not sent: the job says trace: true, its trace is complete, and no attempt is in it")
    }
    guard doubts.isEmpty else {
      return TraceConclusion(
        code: .noRecord, text: "\(Self.rule); " + doubts.joined(separator: "; "))
    }
    guard record.counts.accepted > 0 else {
      return TraceConclusion(
        code: .notSent, text: "not sent: the job has no accepted push, and all others are recorded")
    }
    return TraceConclusion(
      code: .acceptedIfMeant,
      text: "\(Self.rule); all pushes of this job that ended otherwise are recorded, so if it was "
        + "in the audience and installed then, it was accepted at the first attempt")
  }

  /// What else than a plain accept could be behind there being no record.
  private func doubts() -> [String] {
    var doubts: [String] = []
    if !record.state.isFinal {
      doubts.append(
        "the job is \(record.state.rawValue) with \(FigureText.count(record.pending)) pending, so "
          + "it may not have been tried yet")
    }
    doubts += switchedOff.map { "\($0.words) is switched off" }
    if isOld {
      doubts.append("the job ended more than 48 hours ago, and what was recorded is gone")
    }
    doubts += gaps()
    let unexplained = unexplained
    if unexplained > 0 {
      let clause =
        record.state == .cancelled
        ? "which is what cancelling leaves of chunks that no worker had" : "for whatever reason"
      doubts.append(
        "\(FigureText.count(unexplained)) pushes of this job that were not accepted have no record, "
          + clause)
    }
    return doubts
  }

  /// What is missing from the trace.
  func gaps() -> [String] {
    var gaps: [String] = []
    func add(_ count: Int, _ text: String) {
      if count > 0 { gaps.append("\(FigureText.count(count)) \(text)") }
    }
    add(reading.trimmed, "events were recorded and dropped: a job's trace keeps the last 8 MiB")
    add(reading.lost, "events were not recorded: Redis was away or slow")
    add(reading.omitted, "events were only counted: a lane records 10,000 alike")
    add(reading.unreadable, "events were recorded by a newer version")
    return gaps
  }
}
