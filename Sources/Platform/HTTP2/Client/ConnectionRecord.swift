/// The requests that a connection has carried. Times are the loop's.
struct ConnectionRecord {
  let createdNs: UInt64
  /// When it was made, or a request was submitted last.
  private(set) var usedNs: UInt64
  private(set) var submitted = 0
  private(set) var answered = 0
  /// When the last answer came.
  private(set) var answeredNs: UInt64 = 0
  /// When the latest of the requests that were answered was submitted.
  private(set) var overtakenNs: UInt64 = 0
  /// How many requests the server has taken by its own word, as it let go of the connection and complained of nothing.
  private var takenByServer = 0
  /// Requests whose answers its end took with it.
  private(set) var unanswered = 0

  init(createdNs: UInt64) {
    self.createdNs = createdNs
    usedNs = createdNs
  }

  /// A request is about to be submitted.
  mutating func noteUse(nowNs: UInt64) { usedNs = nowNs }

  mutating func noteSubmitted() { submitted += 1 }

  /// A request was answered that was submitted then.
  mutating func noteAnswer(startedNs: UInt64, nowNs: UInt64) {
    answered += 1
    answeredNs = nowNs
    overtakenNs = max(overtakenNs, startedNs)
  }

  /// The server lets go of the connection (GOAWAY with NO_ERROR).
  /// - Parameter lastStreamID: the last stream that it has taken, or may have; the highest of all while that is not known yet
  ///   (RFC 9113, 6.8).
  mutating func noteFarewell(lastStreamID: Int32) {
    // A client's streams are the odd ones, from 1.
    takenByServer = min(submitted, (Int(lastStreamID) + 1) / 2)
  }

  /// The connection has ended with so many requests in flight.
  mutating func noteEnd(inFlight: Int) { unanswered = inFlight }

  /// Whether it answered something and lasted, or answered or took much: its end is no sign that the server wants us to wait. A
  /// server that ends each connection after so many requests may say so before it has answered the first.
  /// - Parameter lastsMs: how long a connection lasts that is of use.
  func isProven(lastsMs: UInt64, nowNs: UInt64) -> Bool {
    max(answered, takenByServer) >= HTTP2Limits.usefulAnswersMin
      || answered > 0 && nowNs &- createdNs >= lastsMs &* 1_000_000
  }
}
