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
