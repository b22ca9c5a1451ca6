/// For how long the peer of a connection has said nothing, and whether it was asked to (PING). Times are the loop's.
struct PeerSilence {
  private var readNs: UInt64 = 0
  private var pingSentNs: UInt64?
  /// Whether a request timed out in a silence: until something is read, as the answer to a PING, nothing more is sent.
  private(set) var isUnresponsive = false

  /// The connection is open.
  mutating func begin(nowNs: UInt64) { readNs = nowNs }

  /// Something was read.
  mutating func end(nowNs: UInt64) {
    readNs = nowNs
    isUnresponsive = false
  }

  /// A PING was sent.
  mutating func notePing(nowNs: UInt64) { pingSentNs = nowNs }

  mutating func noteUnresponsive() { isUnresponsive = true }

  /// For how long it has lasted.
  func lastedNs(nowNs: UInt64) -> UInt64 { nowNs &- readNs }

  /// For how long a PING has waited in vain; nil when none does. Anything that was read since is as good as its answer.
  func pingedMs(nowNs: UInt64) -> UInt64? {
    guard let pingSentNs, readNs <= pingSentNs else { return nil }
    return (nowNs &- pingSentNs) / 1_000_000
  }
}
