/// The way in which a connection comes to its end.
struct ConnectionEnding {
  /// Whether it takes no more requests.
  var isDraining = false
  /// Why it ends, as far as that is known before.
  var reason: ConnectionEnd?
  /// How many requests there were when the peer closed it because of one of them; nil unless it said PROTOCOL_ERROR.
  private(set) var accused: Int?
  /// The last thing that the peer did wrong.
  var peerError: String?
  /// Whether the peer ended it, though it was of use.
  private(set) var isCutOff = false

  /// The peer closes the connection because of what we sent (GOAWAY with PROTOCOL_ERROR).
  mutating func noteAccusation(inFlight: Int) {
    if accused == nil { accused = inFlight }
  }

  /// The connection has ended.
  /// - Parameter answered: how many requests it answered.
  mutating func end(answered: Int) {
    isDraining = true
    isCutOff = (reason?.isFarewell ?? true) && answered >= HTTP2Limits.usefulAnswersMin
  }
}
