/// The requests of a connection whose answers are not over, and whether another may come; a value.
struct ConnectionLedger {
  /// A request that was let in.
  struct Exchange {
    /// Whether the connection ends with its answer: its sender wants that, or cannot do otherwise.
    let isLast: Bool
    let isHTTP10: Bool
    let expectsContinue: Bool
  }

  /// Whose answers are not over, the oldest first.
  private var open: [Exchange] = []
  /// Whether the newest request has not come to its end.
  private(set) var isReading = false
  /// Whether another request is let in.
  private(set) var takesMore = true
  /// Whether the answer that is being written says that the connection ends.
  private var isEnding = false

  /// Whether an answer is due or being written.
  var isAnswering: Bool { !open.isEmpty }

  /// Whether the newest request waits to be told to send its body.
  var expectsContinue: Bool { isReading && open.last?.expectsContinue == true }

  mutating func begin(_ exchange: Exchange) {
    open.append(exchange)
    isReading = true
    if exchange.isLast { takesMore = false }
  }

  /// The newest request has come to its end.
  mutating func end() { isReading = false }

  mutating func refuseMore() { takesMore = false }

  /// An answer begins.
  /// - Parameter saysLast: whether it says by itself that the connection ends.
  /// - Returns: whether it must say so, and whether it goes to a client of HTTP/1.0; nil when none is due.
  mutating func answerBegins(saysLast: Bool) -> (saysLast: Bool, isHTTP10: Bool)? {
    guard let exchange = open.first else { return nil }
    // What is left of a body that nobody reads would be taken for the next request.
    let isNewest = open.count == 1
    isEnding = saysLast || exchange.isLast || (isNewest && (isReading || !takesMore))
    if isEnding { takesMore = false }
    return (isEnding, exchange.isHTTP10)
  }

  /// An answer is over.
  /// - Returns: whether the connection ends now; nil when none was due.
  mutating func answerEnds() -> Bool? {
    guard !open.isEmpty else { return nil }
    let isLast = isEnding || (open.count == 1 && (isReading || !takesMore))
    open.removeFirst()
    isEnding = false
    if isLast { takesMore = false }
    return isLast
  }
}
