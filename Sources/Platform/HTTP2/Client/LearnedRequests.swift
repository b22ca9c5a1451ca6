/// After how many requests a server ends its connections, as far as their ends tell. Whoever stops there by itself loses no
/// request that is under way: without a GOAWAY nobody knows whether those were processed.
///
/// Three ends teach it when they look like one rule: the connections were in use, ended one after the other with about as
/// many answers, and each was made after the one before had ended. Connections that end in idleness, or as servers
/// restart, say nothing of a number: whoever believed them would reconnect all the time, which providers take for
/// an attack.
struct LearnedRequests {
  /// A connection that the server ended while it was in use.
  private struct End {
    let answered: Int
    let atNs: UInt64
  }

  private var last: End?
  /// How many ends in a row were like the one before.
  private var alike = 0
  private var sinceNs: UInt64 = 0
  private var learned: Int?

  /// Notes that the server ended a connection of its own accord.
  /// - Parameters:
  ///   - createdNs: when the connection was made.
  ///   - usedNs: when the last request was submitted to it.
  /// - Returns: whether something was learned.
  mutating func note(answered: Int, createdNs: UInt64, usedNs: UInt64, nowNs: UInt64) -> Bool {
    guard answered >= HTTP2Limits.usefulAnswersMin, nowNs &- usedNs < HTTP2Limits.inUseNs else {
      return false
    }
    // One end may have been anything.
    guard let last else {
      self.last = End(answered: answered, atNs: nowNs)
      return false
    }
    // It ended with the one before, which stays the one to compare with.
    guard createdNs >= last.atNs else { return false }
    self.last = End(answered: answered, atNs: nowNs)
    guard nowNs &- last.atNs < HTTP2Limits.endsApartNsMax,
      answered * 4 <= last.answered * 5, last.answered * 4 <= answered * 5
    else {
      alike = 0
      return false
    }
    alike += 1
    guard alike >= HTTP2Limits.endsAlikeMin else { return false }
    // What was under way beyond the answers counted, too: the larger comes closer.
    learned = max(last.answered, answered)
    sinceNs = nowNs
    return true
  }

  /// How many requests to give a connection.
  mutating func requestsMax(nowNs: UInt64) -> Int {
    guard let learned else { return .max }
    // The server may have changed its mind.
    guard nowNs &- sinceNs < HTTP2Limits.requestsLearnedNs else {
      self = LearnedRequests()
      return .max
    }
    return learned
  }
}
