/// The limits of the loop and its sockets.
package enum ReactorLimits {
  /// What one read takes from a socket at most.
  package static let readBufferBytes = 64 * 1024
  /// Reads of one stream in one turn, so that a fast peer does not starve the others.
  static let readsPerTurn = 16
  /// Readiness events fetched by one wait.
  static let eventsPerWait = 64
  /// Rounds of tasks between two waits.
  static let taskRoundsPerTurn = 16
  /// Rounds of flushing in one turn; more than one when flushing makes more to flush.
  static let flushRoundsPerTurn = 16
  /// The pause before accepting again when descriptors or memory ran out.
  static let acceptPauseMs: UInt64 = 100
  /// For the TLS handshake of an accepted socket.
  package static let acceptTimeoutMs: UInt64 = 10_000
  /// A delegate is asked for more output while less than this is waiting to be written.
  package static let outputLowWaterBytes = 64 * 1024
  /// What one write hands to TLS: the largest record (RFC 8446, 5.1).
  static let tlsRecordBytes = 16 * 1024
  /// The addresses of a host that are tried at most.
  static let addressesMax = 16
  /// Look-ups of host names waiting for the resolver.
  static let resolverQueueMax = 1024
}
