internal import Reactor

// One bad connection of several. It is asked to take requests only now and then while others are well, and replaced when it is
// known to be bad.
extension ClientPool {
  /// How many requests a connection is to be offered that has room for some.
  func offer(_ room: Int, to connection: ClientConnection) -> Int {
    let row = connection.troubleRow
    guard row.weight > 0 || connection.isLagging else { return room }
    guard hasOthers(than: connection) else { return room }
    // Its requests in flight are its trial.
    guard connection.inFlight == 0, loop.nowNs >= row.dueNs else {
      let waitNs = connection.inFlight > 0 ? HTTP2Limits.laggingNs : row.dueNs &- loop.nowNs
      if !trialTimer.isArmed { trialTimer.schedule(afterMs: (waitNs + 999_999) / 1_000_000) }
      return 0
    }
    return 1
  }

  /// Whether requests are better off on another connection.
  private func hasOthers(than connection: ClientConnection) -> Bool {
    if connections.contains(where: { $0 !== connection && $0.isWell }) { return true }
    // One that is on its way is worth a moment.
    return loop.nowNs &- connection.troubleRow.sinceNs < HTTP2Limits.othersAwaitedNs
      && connection.troubleRow.weight > 0
      && connections.contains { $0 !== connection && $0.isOpening }
  }

  /// Asks all for requests again.
  func wakeAll() {
    guard isWanted, !isClosed else { return }
    for connection in connections { connection.wake() }
  }

  /// A request on a connection met with trouble.
  func noteTrouble(
    _ sign: ConnectionSign, _ answer: RequestAnswer, on connection: ClientConnection
  ) {
    guard !isClosed, !connection.isDraining,
      connections.count > 1 || connectionsMax > 1 || answer.disposition == .malformed
    else { return }
    // A request that waits in vain while its connection answers later ones is no trouble of the connection. Counted as such, a few of
    // them in a row would keep away from it all that could be good.
    if answer.disposition == .unknown,
      connection.record.overtakenNs > loop.nowNs &- answer.elapsedNs
    {
      return
    }
    let isAlone = connections.contains { $0 !== connection && $0.isWell }
    let begins = connection.troubleRow.weight == 0
    if begins { rows &+= 1 }
    connection.troubleRow.note(
      sign, sentNs: loop.nowNs &- answer.elapsedNs, isAlone: isAlone, nowNs: loop.nowNs,
      goods: goods, rows: rows)
    if isAlone {
      if connection.troubleRow.isOutlier(goods: goods, rows: rows) { giveUp(connection, answer) }
      return
    }
    if connection.troubleRow.weight >= HTTP2Limits.otherWantedWeightMin { openOther() }
    renewIfAllRefuse(connection, answer)
    // Those that were held back are as good as this one now.
    if begins { wakeAll() }
  }

  /// Opens another connection, to know whether it is the connection's trouble or that of all.
  private func openOther() {
    guard mayOpenOther, !reconnectTimer.isArmed, !connections.contains(where: \.isOpening) else {
      return
    }
    let serving = connections.count { !$0.isDraining }
    wantedConnections = max(wantedConnections, serving + 1)
    openOne()
  }

  private var mayOpenOther: Bool {
    connections.count { !$0.isDraining } < min(connectionsMax, HTTP2Limits.connectionsTriedMax)
      && !loop.isFrugal
  }

  /// Replaces a connection that has reset nothing but good streams, as far as is known, while no other is well and none may be
  /// opened besides. One server may have all of them, and it is another's turn with the next.
  private func renewIfAllRefuse(_ connection: ClientConnection, _ answer: RequestAnswer) {
    guard answer.disposition == .malformed, !mayOpenOther,
      connection.troubleRow.weight >= HTTP2Limits.outlierWeightMin,
      !reconnectTimer.isArmed, !connections.contains(where: \.isOpening)
    else { return }
    renew(connection)
  }

  private func giveUp(_ connection: ClientConnection, _ answer: RequestAnswer) {
    let kind: ConnectionTrouble.Kind =
      switch answer.disposition {
      case .answered: .status(answer.content.status)
      case .unknown: .unanswered
      case .malformed: .malformed
      case .notSent: .refused
      }
    let trouble = ConnectionTrouble(
      kind: kind, requests: connection.troubleRow.requests,
      connections: connections.count { !$0.isDraining })
    probations += 1
    connection.drain()
    delegate.transport(self, replaced: trouble)
  }
}

extension ClientConnection {
  /// Whether it takes requests, and nothing speaks against it.
  fileprivate var isWell: Bool {
    (streamsAllowed ?? 0) > 0 && !isDraining && troubleRow.weight == 0 && !isLagging
  }

  fileprivate var isOpening: Bool { streamsAllowed == nil && !isDraining }

  /// Whether the first of its requests in flight waits while no answer comes.
  fileprivate var isLagging: Bool {
    guard slots.oldest >= 0 else { return false }
    let startedNs = slots[slots.oldest].startedNs
    // An answer in the turn of its submission is to an earlier request.
    return record.answeredNs <= startedNs && loop.nowNs &- startedNs >= HTTP2Limits.laggingNs
  }
}

/// One connection of several that had nothing but trouble, while the others had none, and is replaced.
package struct ConnectionTrouble: Equatable {
  /// How the last of its requests ended.
  package enum Kind: Equatable {
    case status(Int)
    case unanswered
    case malformed
    case refused
  }

  package let kind: Kind
  /// How many requests in a row.
  package let requests: Int
  /// How many connections there are, this one included.
  package let connections: Int
}
