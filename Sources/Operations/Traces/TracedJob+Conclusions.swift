internal import Model
internal import Store

// What follows from the events of a subject, and from there being none. Each says no more than is known.
extension TracedJob {
  /// One for each token that has events or is installed now; one for a user or token with neither.
  package func conclusions() -> [TraceConclusion] {
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
      return TraceConclusion(code: .unanswered, grounds: .sent(events.last))
    }
    let attempt = events.last {
      $0.atMs <= event.atMs && ($0.kind == .answered || $0.kind == .unanswered)
    }
    return TraceConclusion(
      code: code(decision), grounds: .decided(event, lastAttempt: attempt))
  }

  private func code(_ decision: TraceDecision) -> TraceConclusion.Code {
    switch decision {
    case .accepted: .accepted
    // What is kept counts as rejected.
    case .rejected, .kept: .rejected
    case .uninstalled: .uninstalled
    case .expired: .expired
    case .skipped: .skipped
    case .failed: .failed
    case .uninstall: .invalid
    case .retry, .deferred, .resend: record.state.isFinal ? .unfinished : .waiting
    }
  }

  // MARK: Without events

  private func concludeWithoutEvents(
    _ installation: Installation, isWholeKnown: Bool
  ) -> TraceConclusion {
    if let content, !content.environments.contains(installation.environment) {
      return TraceConclusion(
        code: .notSent, grounds: .otherEnvironment(installation.environment))
    }
    if let content, installation.token.network == .apns,
      installation.kind != content.apnsTokenKind
    {
      return TraceConclusion(code: .notSent, grounds: .otherKind(installation.kind))
    }
    if isWholeKnown { return TraceConclusion(code: .notSent, grounds: .userAsAWhole) }
    if let finishedAtMs = record.finishedAtMs, let sinceMs = installation.createdAtMs,
      sinceMs > finishedAtMs
    {
      return TraceConclusion(code: .noRecord, grounds: .installedLater)
    }
    return concludeWithoutRecord()
  }

  private func concludeWithoutAnything() -> TraceConclusion {
    var conclusion = concludeWithoutRecord()
    conclusion.isInstalled = false
    if conclusion.code == .acceptedIfMeant { conclusion.code = .noRecord }
    return conclusion
  }

  private func concludeWithoutRecord() -> TraceConclusion {
    let doubts = doubts()
    guard doubts.isEmpty else {
      return TraceConclusion(code: .noRecord, grounds: .doubts(doubts))
    }
    if content?.trace == true {
      return TraceConclusion(code: .notSent, grounds: .absentFromFullTrace)
    }
    guard record.counts.accepted > 0 else {
      return TraceConclusion(code: .notSent, grounds: .noAccepts)
    }
    return TraceConclusion(code: .acceptedIfMeant, grounds: .plainAccept)
  }

  /// Returns the reasons other than a plain accept why there may be no record.
  private func doubts() -> [TraceDoubt] {
    var doubts: [TraceDoubt] = []
    if !record.state.isFinal {
      doubts.append(.unfinished(record.state, pending: record.pending))
    }
    doubts += switchedOff.map { .switchedOff($0) }
    if isOld { doubts.append(.old) }
    doubts += reading.gaps.map { .gap($0) }
    let unexplained = unexplained
    if unexplained > 0 { doubts.append(.unexplained(unexplained)) }
    return doubts
  }
}

extension TraceReading {
  /// The parts that are missing from the trace.
  package var gaps: [TraceGap] {
    TraceGap.Reason.allCases.map { TraceGap(reason: $0, count: missing($0)) }
      .filter { $0.count > 0 }
  }

  private func missing(_ reason: TraceGap.Reason) -> Int {
    switch reason {
    case .trimmed: trimmed
    case .lost: lost
    case .omitted: omitted
    case .unreadable: unreadable
    }
  }
}
