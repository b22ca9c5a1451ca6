/// A carrier of requests to one endpoint with one credential: a pool of connections; loop-bound.
///
/// It pulls: while there is something to send, its delegate is asked for requests whenever there is room.
/// Close it before letting go of it.
package protocol Transport: AnyObject {
  /// Requests that were submitted and have not ended.
  var inFlight: Int { get }

  /// Connections that can carry requests now.
  var readyConnections: Int { get }

  /// Streams used at most when every connection stands and the server allows all.
  var streamsMax: Int { get }

  /// Streams that the connections which stand allow, as far as that is known.
  var streamsAllowed: Int { get }

  /// Says that there is something to send: opens what it takes, and asks the delegate for requests at
  /// the end of this turn where there is room.
  /// - Parameter waiting: how many requests wait, as far as that is known.
  func wake(waiting: Int)

  /// Says that nothing waits: lost connections are not replaced until the next `wake`.
  func rest()

  /// Since when it has had a connection that nothing waits for, in the loop's time; nil without such a one.
  var idleSinceNs: UInt64? { get }

  /// Closes that connection, for its descriptor.
  func closeIdle()

  /// Lets go of one of several connections when its requests have ended.
  /// - Returns: false when it has one at most.
  func shed() -> Bool

  /// Closes everything; requests in flight end as `unknown` or `notSent`. Safe to call twice.
  func close()
}

extension Transport {
  package func wake() { wake(waiting: 1) }

  package var streamsAllowed: Int { streamsMax }
}

/// Where requests are submitted while a transport asks for them; valid during that call only.
package protocol RequestTaker: AnyObject {
  /// Submits one request.
  /// - Parameter path: copied; ignored when the head has a path of its own.
  /// - Returns: false when no more requests can be taken; this one was not.
  func submit(
    _ head: RequestHead, path: UnsafeRawBufferPointer, body: RequestBody, tag: UInt64
  ) -> Bool
}

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

/// The sign that the end of a request gives of the connection that carried it, in the judgement of whoever sent it. Its
/// number is how much that weighs as trouble.
package enum ConnectionSign: Int, Sendable {
  /// The server at its end does its work, whatever it says of the request.
  case good = 0
  /// Nothing.
  case none = -1
  /// The trouble may be the connection's, or that of all.
  case trouble = 1
  /// The trouble as before, of a request that waited in vain, or that has paid for it.
  case graveTrouble = 4
  /// Nothing good comes of it, and another is wanted in its place.
  case useless = -2
}
