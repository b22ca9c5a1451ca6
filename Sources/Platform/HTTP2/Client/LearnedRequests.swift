/// After how many requests a server ends its connections, as far as their ends tell. Whoever stops there by itself loses no
/// request that is under way: without a GOAWAY nobody knows whether those were processed.
struct LearnedRequests {
  private var last: Int?
  private var sinceNs: UInt64 = 0
  private var learned: Int?

  /// Notes that the server ended a connection of its own accord, after so many answers.
  /// - Returns: whether something was learned.
  mutating func note(answered: Int, nowNs: UInt64) -> Bool {
    guard answered >= HTTP2Limits.usefulAnswersMin else { return false }
    defer { last = answered }
    // One end may have been anything.
    guard let last else { return false }
    // What was under way beyond the answers counted, too: the larger comes closer.
    learned = max(last, answered)
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
