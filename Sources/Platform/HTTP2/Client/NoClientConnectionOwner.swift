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
