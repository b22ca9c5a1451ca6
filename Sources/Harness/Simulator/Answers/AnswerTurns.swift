internal import HTTP2Server
internal import LocalServices
internal import Model
internal import Reactor

/// The decisions of a turn and those that wait for their time, until their answers have left; loop-bound.
///
/// At a turn's end the accept log is written, the counters are published, and only then the answers are handed to their
/// connections, which flush them in the same turn.
final class AnswerTurns {
  /// RST_STREAM's NO_ERROR (RFC 9113, 7).
  private static let noError: UInt32 = 0
  /// The delay of what follows a turn's answers, which have left by then.
  private static let afterFlushMs: UInt64 = 1

  private let loop: EventLoop
  private let record: SimulatorRecord
  private var pending: [PendingAnswer] = []
  private var delivering: [PendingAnswer] = []
  private var delayed = DelayedAnswers()
  private var earlyEnds: [PendingAnswer] = []
  private var toDrop: [SimulatedConnection] = []
  private var toDropLater: [SimulatedConnection] = []
  private var heads = AnswerHeads()
  private var isTurnScheduled = false
  private var turnEnd: LoopTimer!
  private var nextDelayed: LoopTimer!
  private var afterFlush: LoopTimer!

  init(loop: EventLoop, record: SimulatorRecord) {
    self.loop = loop
    self.record = record
    turnEnd = LoopTimer(loop: loop) { [unowned self] in endTurn() }
    nextDelayed = LoopTimer(loop: loop) { [unowned self] in deliverDelayed() }
    afterFlush = LoopTimer(loop: loop) { [unowned self] in finishAfterFlush() }
  }

  func stop() {
    turnEnd.cancel()
    nextDelayed.cancel()
    afterFlush.cancel()
  }

  func enqueue(_ answer: PendingAnswer, delayMs: UInt64, isEarly: Bool) {
    if isEarly {
      // Sent at once: the body may be in the same read, and would be taken for a second request.
      count(answer)
      record.counters.earlyAnswers += 1
      record.write()
      deliver(answer)
      earlyEnds.append(answer)
      afterFlush.schedule(afterMs: Self.afterFlushMs)
      scheduleEnd()
    } else if delayMs > 0 {
      delayed.insert(answer, dueNs: loop.nowNs &+ delayMs &* 1_000_000)
      scheduleDelayed()
      scheduleEnd()
    } else {
      count(answer)
      pending.append(answer)
      scheduleEnd()
    }
  }

  /// Cuts a connection before this turn's answers leave.
  func dropAtEnd(_ connection: SimulatedConnection) {
    toDrop.append(connection)
    scheduleEnd()
  }

  /// Cuts a connection when this turn's answers have left.
  func dropAfterFlush(_ connection: SimulatedConnection) {
    toDropLater.append(connection)
    afterFlush.schedule(afterMs: Self.afterFlushMs)
  }

  /// Forgets the answers to connections that have closed.
  func removeClosed() {
    delayed.removeClosed()
    scheduleEnd()
  }

  func scheduleEnd() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = true
    turnEnd.schedule(afterMs: 0)
  }

  /// Writes the log, publishes, then answers: in this order, so that what is answered is on record.
  private func endTurn() {
    isTurnScheduled = false
    record.write()
    // Two arrays in turn, so that neither is copied or given up.
    swap(&pending, &delivering)
    for answer in delivering { deliver(answer) }
    delivering.removeAll(keepingCapacity: true)
    let drops = toDrop
    toDrop.removeAll()
    for connection in drops { connection.drop() }
  }

  private func count(_ answer: PendingAnswer) {
    guard !answer.isCut else { return }
    switch answer.reaction {
    case .answer(let content): record.counters.countAnswer(status: content.status)
    case .stall: record.counters.stalled += 1
    case .reset: record.counters.resets += 1
    case .drop: break
    case .goAway: record.counters.goAways += 1
    }
  }

  private func deliver(_ answer: PendingAnswer) {
    guard answer.isCurrent else { return }
    let connection = answer.connection
    guard !answer.isCut else { return connection.dropAtEndOfTurn() }
    switch answer.reaction {
    case .answer(var content):
      if answer.isAccepted && record.hasFailed {
        record.counters.logFailures += 1
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

  private func deliverDelayed() {
    while let answer = delayed.popDue(nowNs: loop.nowNs) {
      if answer.isCurrent { count(answer) }
      pending.append(answer)
    }
    if !pending.isEmpty { scheduleEnd() }
    scheduleDelayed()
  }

  /// Ends the streams that were answered before their bodies came (RFC 9113, 8.1), and cuts the
  /// connections whose last answers were to leave first.
  private func finishAfterFlush() {
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
