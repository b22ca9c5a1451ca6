internal import HTTP2Server
internal import LocalServices
internal import Model
internal import Reactor

extension SimulatorServer {
  /// RST_STREAM's NO_ERROR (RFC 9113, 7).
  private static let noError: UInt32 = 0

  func enqueue(_ answer: PendingAnswer, delayMs: UInt64, isEarly: Bool) {
    if isEarly {
      // Sent at once: the body may be in the same read, and would be taken for a second request.
      count(answer)
      counters.earlyAnswers += 1
      writeLog()
      publish()
      deliver(answer)
      earlyEnds.append(answer)
      afterFlush.schedule(afterMs: Self.afterFlushMs)
      scheduleTurnEnd()
    } else if delayMs > 0 {
      delayed.insert(answer, dueNs: loop.nowNs &+ delayMs &* 1_000_000)
      scheduleDelayed()
      scheduleTurnEnd()
    } else {
      count(answer)
      pending.append(answer)
      scheduleTurnEnd()
    }
  }

  func scheduleTurnEnd() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = true
    turnEnd.schedule(afterMs: 0)
  }

  /// Writes the log, publishes, then answers: in this order, so that what is answered is on record.
  func endTurn() {
    isTurnScheduled = false
    writeLog()
    publish()
    // Two arrays in turn, so that neither is copied or given up.
    swap(&pending, &delivering)
    for answer in delivering { deliver(answer) }
    delivering.removeAll(keepingCapacity: true)
    let drops = toDrop
    toDrop.removeAll()
    for connection in drops { connection.drop() }
  }

  private func writeLog() {
    guard let log, !log.write() else { return }
    logHasFailed = true
  }

  func publish() {
    counters.bearerTokensIssued = networks.bearerTokensIssued
    counters.providerTokenVerifications = networks.providerTokenVerifications
    counters.dryRuns = networks.dryRuns
    counters.repeatedRequests = networks.repeated.requests
    counters.repeatedPushes = networks.repeated.pushes
    state.publish(counters, accepted: accepted)
    accepted.removeAll(keepingCapacity: true)
  }

  private func count(_ answer: PendingAnswer) {
    guard !answer.isCut else { return }
    switch answer.reaction {
    case .answer(let content): counters.countAnswer(status: content.status)
    case .stall: counters.stalled += 1
    case .reset: counters.resets += 1
    case .drop: break
    case .goAway: counters.goAways += 1
    }
  }

  private func deliver(_ answer: PendingAnswer) {
    guard answer.isCurrent else { return }
    let connection = answer.connection
    guard !answer.isCut else { return connection.dropAtEndOfTurn() }
    switch answer.reaction {
    case .answer(var content):
      if answer.isAccepted && logHasFailed {
        counters.logFailures += 1
        content = .apns(.internalServerError)
      }
      respond(answer.request, on: connection, content)
      connection.answered(status: content.status)
    case .stall: break
    case .reset(let code): connection.connection.reset(answer.request, errorCode: code)
    case .drop: connection.dropAtEndOfTurn()
    case .goAway(let code): connection.endConnection(errorCode: code)
    }
  }

  private func respond(
    _ request: ServerRequest, on connection: SimulatedConnection, _ answer: Answer
  ) {
    let id: String? = request.withHeader("apns-id") { $0?.text }
    if id == nil, let head = heads.head(of: answer) {
      return connection.connection.respond(request, head: head, body: answer.body)
    }
    connection.connection.respond(
      request, status: answer.status, headers: AnswerHeads.fields(of: answer, id: id),
      body: answer.body)
  }

  // MARK: Later

  private func scheduleDelayed() {
    guard let due = delayed.nextDueNs else { return }
    // Rounded up, so that the timer never comes before the answer is due.
    nextDelayed.schedule(afterMs: due <= loop.nowNs ? 0 : (due - loop.nowNs + 999_999) / 1_000_000)
  }

  func deliverDelayed() {
    while let answer = delayed.popDue(nowNs: loop.nowNs) {
      if answer.isCurrent { count(answer) }
      pending.append(answer)
    }
    if !pending.isEmpty { scheduleTurnEnd() }
    scheduleDelayed()
  }

  /// Ends the streams that were answered before their bodies came (RFC 9113, 8.1), and cuts the
  /// connections whose last answers were to leave first.
  func finishAfterFlush() {
    let ends = earlyEnds
    earlyEnds.removeAll()
    for end in ends where end.isCurrent {
      end.connection.connection.reset(end.request, errorCode: Self.noError)
    }
    let drops = toDropLater
    toDropLater.removeAll()
    for connection in drops { connection.drop() }
  }
}
