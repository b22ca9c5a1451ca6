/// How a worker process works.
package struct WorkerConfiguration: Sendable, Equatable {
  /// Threads that push; 0 is one per core.
  package var lanes: Int
  package var connectionsPerLane: Int
  /// Requests in flight on one connection, below what the provider allows.
  package var streamsPerConnection: Int
  /// How long a stopping worker finishes what is in flight; 0 hands everything back at once.
  package var drainSeconds: Int
  /// A chunk whose owner was silent for so long is taken over.
  package var leaseSeconds: Int
  package var requestTimeoutSeconds: Int
  /// How long work waits for a worker that has its app or credentials, before it becomes a dead letter.
  package var unroutedSeconds: Int

  package init(
    lanes: Int = 0, connectionsPerLane: Int = 2, streamsPerConnection: Int = 1_000,
    drainSeconds: Int = 25, leaseSeconds: Int = 30, requestTimeoutSeconds: Int = 10,
    unroutedSeconds: Int = 600
  ) {
    self.lanes = lanes
    self.connectionsPerLane = connectionsPerLane
    self.streamsPerConnection = streamsPerConnection
    self.drainSeconds = drainSeconds
    self.leaseSeconds = leaseSeconds
    self.requestTimeoutSeconds = requestTimeoutSeconds
    self.unroutedSeconds = unroutedSeconds
  }
}
