internal import HTTP2
internal import Reactor

// The connections of a destination: what the ends of requests say of them, and which are not needed.
extension Destination {
  /// Says what an unanswered request tells of its connection, whoever is to blame for that.
  func sign(ofSilence answer: RequestAnswer) -> ConnectionSign {
    switch answer.disposition {
    case .unknown where !answer.isCutOff && !answer.isAccused:
      answer.elapsedNs >= settings.requestTimeoutMs &* 1_000_000 ? .graveTrouble : .trouble
    case .notSent where answer.isRefused: .trouble
    // One request that breaks a connection is its push's trouble.
    case .unknown, .notSent, .malformed, .answered: .none
    }
  }

  /// How one connection was bad while the others were well, while that is to be an alarm.
  var badConnectionReason: String? {
    guard let badConnection,
      loop.nowNs &- badConnection.atNs < WorkerLimits.badConnectionAlarmNs
    else { return nil }
    return badConnection.trouble.reason
  }

  // MARK: Connections that can be spared

  var idleSinceNs: UInt64? { transport.idleSinceNs }
  func closeIdle() { transport.closeIdle() }
  func shed() -> Bool { transport.shed() }
}

extension ConnectionTrouble {
  /// The trouble as the end of a sentence about a destination.
  var reason: String {
    let last =
      switch kind {
      case .status(let status): "status \(status)"
      case .unanswered: "no answer"
      case .refused: "REFUSED_STREAM"
      }
    return
      "one of \(connections) connections had nothing but trouble (\(last)) while the others were well"
  }
}
