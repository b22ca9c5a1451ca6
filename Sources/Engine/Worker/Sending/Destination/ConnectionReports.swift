internal import HTTP2

/// The last that is known of a destination's connections. Times are the loop's.
struct ConnectionReports {
  /// The sign that the request gives of its connection whose end is being heard of.
  var sign = ConnectionSign.none
  /// Whether that request was on the connection of those that are tried apart.
  var isApart = false
  /// Whether none could be opened last because no file descriptor was left.
  private(set) var lacksDescriptors = false
  /// How many the network has ended by GOAWAY.
  private(set) var goAways = 0
  /// How the last one ended that we did not end, and when.
  private var lastEnd: (end: ConnectionEnd, atNs: UInt64)?
  /// The last one that was replaced because it alone was bad.
  private var bad: (trouble: ConnectionTrouble, atNs: UInt64)?

  mutating func noteOpened() { lacksDescriptors = false }

  mutating func noteEnd(_ end: ConnectionEnd, nowNs: UInt64) {
    lacksDescriptors = end.isOutOfDescriptors
    if case .goAway = end { goAways += 1 }
    lastEnd = (end, nowNs)
  }

  /// How the last one ended, unless something was answered since.
  func end(since answeredNs: UInt64?) -> String? {
    lastEnd.flatMap { $0.atNs >= answeredNs ?? 0 ? $0.end.logText : nil }
  }

  mutating func noteReplaced(_ trouble: ConnectionTrouble, nowNs: UInt64) {
    bad = (trouble, nowNs)
  }

  /// How one was bad while the others were well, while that is to be an alarm.
  func badReason(nowNs: UInt64) -> String? {
    guard let bad, nowNs &- bad.atNs < WorkerLimits.badConnectionAlarmNs else { return nil }
    return bad.trouble.reason
  }
}

extension ConnectionTrouble {
  /// The word that HTTP/2 has for a request that it calls malformed.
  static let malformed = "PROTOCOL_ERROR"

  /// The trouble as the end of a sentence about a destination.
  var reason: String {
    let last =
      switch kind {
      case .status(let status): "status \(status)"
      case .unanswered: "no answer"
      case .malformed: Self.malformed
      case .refused: "REFUSED_STREAM"
      }
    return
      "one of \(connections) connections had nothing but trouble (\(last)) while the others were well"
  }
}
