/// The calls by which a transport asks and tells the one who sends through it.
package protocol TransportDelegate: AnyObject {
  /// Up to `count` requests may be submitted to the taker now; fewer, or none, is fine.
  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker)

  /// A request ended; exactly once for each that was submitted.
  /// - Returns: what that says of its connection.
  func transport(_ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer)
    -> ConnectionSign

  func transport(_ transport: any Transport, connectionOpened total: Int)
  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd)
  /// One connection of several had nothing but trouble, and is replaced.
  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble)
}
