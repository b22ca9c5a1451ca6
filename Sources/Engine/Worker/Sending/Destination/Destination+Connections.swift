internal import HTTP2
internal import Reactor
internal import Store

// The connections of a destination: what the ends of requests say of them, and which are not needed.
extension Destination {
  /// Says what an unanswered request tells of its connection, whoever is to blame for that.
  func sign(ofSilence answer: RequestAnswer) -> ConnectionSign {
    switch answer.disposition {
    case .unknown where !answer.failure.isCutOff && !answer.failure.isAccused:
      answer.elapsedNs >= settings.requestTimeoutMs &* 1_000_000 ? .graveTrouble : .trouble
    case .notSent where answer.failure.isRefused: .trouble
    // Whoever heard of it knows whether the push was suspected already.
    case .malformed where !answer.failure.isAccused: reports.sign
    // One request that breaks a connection is its push's trouble.
    case .unknown, .notSent, .malformed, .answered: .none
    }
  }

  /// How one connection was bad while the others were well, while that is to be an alarm.
  var badConnectionReason: String? {
    reports.badReason(nowNs: loop.nowNs)
  }

  /// Whether it could not be connected to last because no file descriptor was left.
  var lacksDescriptors: Bool { reports.lacksDescriptors }

  /// The figures of its connections, those in quarantine included.
  var figures: WorkerFigures.Connections {
    var figures = WorkerFigures.Connections()
    for transport in [transport, apart.transport].compactMap(\.self) {
      figures.streamsUsed += transport.inFlight
      // libcurl says what it may carry also while it has no connection.
      figures.streamsAllowed += transport.readyConnections > 0 ? transport.streamsAllowed : 0
      figures.count += transport.readyConnections
    }
    figures.goAways = reports.goAways
    return figures
  }

  // MARK: Connections that can be spared

  var idleSinceNs: UInt64? { transport.idleSinceNs }
  func closeIdle() { transport.closeIdle() }
  func shed() -> Bool { transport.shed() }
}
