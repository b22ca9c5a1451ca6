import PushpoolConfiguration

extension WorkerConfiguration {
  /// One lane with one connection: so many pushes at a time.
  static func narrow(
    _ streams: Int, leaseSeconds: Int = 10, requestTimeoutSeconds: Int = 10
  ) -> WorkerConfiguration {
    WorkerConfiguration(
      lanes: 1, connectionsPerLane: 1, streamsPerConnection: streams, drainSeconds: 5,
      leaseSeconds: leaseSeconds, requestTimeoutSeconds: requestTimeoutSeconds)
  }
}
