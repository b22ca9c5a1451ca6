/// The calls by which a client connection tells its pool of itself.
protocol ClientConnectionOwner: AnyObject {
  func connectionIsReady(_ connection: ClientConnection)
  func connection(_ connection: ClientConnection, hasRoomFor count: Int)
  /// The connection takes no more for now, and that is not because its credential is still to be accepted.
  func connectionIsFull(_ connection: ClientConnection)
  func connection(
    _ connection: ClientConnection, finished tag: UInt64, with answer: RequestAnswer)
  /// The connection takes no new requests; those in flight go on.
  func connectionIsDraining(_ connection: ClientConnection)
  func connection(_ connection: ClientConnection, endedBecause end: ConnectionEnd)
}

/// The owner of connections whose pool is gone; it hears and does nothing.
final class NoClientConnectionOwner: ClientConnectionOwner, Sendable {
  static let shared = NoClientConnectionOwner()

  func connectionIsReady(_ connection: ClientConnection) {}

  func connection(_ connection: ClientConnection, hasRoomFor count: Int) {}

  func connectionIsFull(_ connection: ClientConnection) {}

  func connection(
    _ connection: ClientConnection, finished tag: UInt64, with answer: RequestAnswer
  ) {}

  func connectionIsDraining(_ connection: ClientConnection) {}

  func connection(_ connection: ClientConnection, endedBecause end: ConnectionEnd) {}
}
