/// How a worker process works.
package struct WorkerConfiguration: Sendable, Equatable {
  /// Threads that push; 0 is one for each CPU that the process may use.
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

extension WorkerConfiguration {
  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section(
      "worker",
      known: [
        "lanes", "connections_per_lane", "streams_per_connection", "drain_seconds",
        "lease_seconds", "request_timeout_seconds", "unrouted_seconds",
      ])
    let usual = WorkerConfiguration()
    self.init(
      lanes: try section.integer(
        "lanes", in: 0...ConfigurationLimits.lanesMax, default: usual.lanes),
      connectionsPerLane: try section.integer(
        "connections_per_lane", in: 1...ConfigurationLimits.connectionsPerLaneMax,
        default: usual.connectionsPerLane,
        zero: "a lane without a connection sends nothing; leave it out for the default of 2"),
      streamsPerConnection: try section.integer(
        "streams_per_connection", in: 1...ConfigurationLimits.streamsPerConnectionMax,
        default: usual.streamsPerConnection,
        zero: "a connection without streams would wait for ever; leave it out for what the "
          + "provider allows, up to 1000"),
      drainSeconds: try section.integer(
        "drain_seconds", in: 0...ConfigurationLimits.drainSecondsMax,
        default: usual.drainSeconds),
      leaseSeconds: try section.integer(
        "lease_seconds", in: 1...ConfigurationLimits.leaseSecondsMax,
        default: usual.leaseSeconds,
        zero: "every chunk would be taken from its owner at once; the default is 30"),
      requestTimeoutSeconds: try section.integer(
        "request_timeout_seconds", in: 1...ConfigurationLimits.requestTimeoutSecondsMax,
        default: usual.requestTimeoutSeconds,
        zero: "every request would time out at once; the default is 10"),
      unroutedSeconds: try section.integer(
        "unrouted_seconds", in: 1...ConfigurationLimits.unroutedSecondsMax,
        default: usual.unroutedSeconds,
        zero: "a job would be given up while the workers that have its app restart; the default is "
          + "600"))
  }
}
