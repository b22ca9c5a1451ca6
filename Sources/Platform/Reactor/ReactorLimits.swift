/// The limits of the loop and its sockets.
package enum ReactorLimits {
  /// Bytes that one read takes from a socket at most.
  package static let readBufferBytes = 64 * 1024
  /// Reads of one stream in one turn, so that a fast peer does not starve the others.
  static let readsPerTurn = 16
  /// The text of a `DurationHistogram` that is read, and its bounds.
  static let histogramBytesMax = 1_024
  static let histogramBoundsMax = 32
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
  /// Reads after which a stream keeps its buffers, until it is told to give them back.
  static let leanReadsMax = 32
  /// Bytes that one write hands to TLS: the largest record (RFC 8446, 5.1).
  static let tlsRecordBytes = 16 * 1024
  /// The addresses of a host that are tried at most.
  static let addressesMax = 16
  /// Who may wait for look-ups of host names, of one resolver.
  static let resolverWaitersMax = 1024
  /// Hosts that the push networks' resolver looks up at a time.
  static let resolverThreadsMax = 32
  /// A look-up that took so long is expected to do so again.
  static let slowLookUpMs: UInt64 = 1_000
  /// How long an address is alone until the next is tried beside it: before it has answered at all
  /// (RFC 8305, 5), and while it is in its TLS handshake.
  static let attemptDelayMs: UInt64 = 250
  static let handshakeDelayMs: UInt64 = 1_000
  /// The least of both, where many addresses share little time.
  static let attemptDelayMsMin: UInt64 = 10
  /// Addresses that failed and are remembered, and for how long.
  static let addressFailuresMax = 1024
  static let addressFailureMs: UInt64 = 600_000
  /// Keys, certificates with their chains, service accounts and passwords are a few kilobytes.
  package static let keyFileBytesMax = 64 << 10
  /// Iterations by which a key is derived from a password, unless the caller wants it sooner. Tools write 2,048 to 600,000. Whoever
  /// gives a file could otherwise keep a core busy for hours.
  package static let keyIterationsMax = 1_000_000
  /// How many times as many a file as a whole may ask for.
  static let keyIterationsOfFile = 2
  /// Certificate authorities: a system's own are some 250 KiB.
  package static let authoritiesFileBytesMax = 4 << 20
  /// Bytes of a proxy's answer to CONNECT, headers included.
  static let tunnelAnswerBytesMax = 16 * 1024
  /// The part of the time for connecting that a proxy has for its tunnel, so that some is left for TLS.
  static let tunnelTimePercentMax: UInt64 = 80
}
