import LocalServices

/// A replica of a stage's Redis, and the sentinels that watch both.
struct SentinelSet: Sendable {
  /// The stage's own server, which is the master at first, and its replica.
  let servers: [RedisServer]
  let sentinels: [SentinelServer]

  /// The URL by which workers and the runner find the master.
  var url: String { SentinelServer.url(sentinels) }

  /// Runs the body beside as many sentinels as the options want.
  static func with<Result>(
    _ options: StageOptions, _ master: RedisServer,
    _ body: (SentinelSet) async throws -> Result
  ) async throws -> Result {
    guard let port = master.port else { throw ChaosError("the master has no port") }
    var following = options.redis.server
    following.configuration.append("replicaof 127.0.0.1 \(port)")
    return try await RedisServer.with(following) { replica in
      var watching = SentinelServer.Options(masterPort: port)
      watching.downAfterMs = ChaosLimits.sentinelDownMs
      watching.failoverMsMax = ChaosLimits.sentinelFailoverMsMax
      return try await SentinelServer.with(options.redis.sentinels, watching) { sentinels in
        let set = SentinelSet(servers: [master, replica], sentinels: sentinels)
        try await set.settle()
        return try await body(set)
      }
    }
  }

  /// Waits until the sentinels know each other and both servers, and the replica keeps up with the master.
  /// - Returns: the two.
  @discardableResult
  func settle() async throws -> (master: RedisServer, replica: RedisServer) {
    for sentinel in sentinels {
      try await wait("a sentinel knows the others and the replica") {
        await sentinel.isWatching(replicas: 1, sentinels: sentinels.count)
      }
    }
    try await wait("the replica keeps up with the master") { await whoIsMaster() != nil }
    guard let master = await whoIsMaster() else {
      throw ChaosError("the sentinels made another server the master unasked")
    }
    return (servers[master], servers[1 - master])
  }

  /// The place of the server that a replica keeps up with; nil while there is none, as amid a failover.
  private func whoIsMaster() async -> Int? {
    for (place, server) in servers.enumerated() {
      if await server.role() == "master", await server.hasReplica() { return place }
    }
    return nil
  }

  /// Waits until a server has the role, `master` or `slave`.
  func wait(until server: RedisServer, is role: String) async throws {
    try await wait("a server has the role \(role)") { await server.role() == role }
  }

  private func wait(_ what: String, _ isSo: () async -> Bool) async throws {
    let deadline = ContinuousClock.now + .milliseconds(ChaosLimits.sentinelPatienceMs)
    while await !isSo() {
      guard ContinuousClock.now < deadline else { throw ChaosError("it never happened: \(what)") }
      try await ChaosStage.pause(ms: ChaosLimits.pollMs)
    }
  }
}
