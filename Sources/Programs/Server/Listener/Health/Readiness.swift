internal import Operations
internal import Redis
internal import Store

/// Whether Redis answers, asked for all probes together.
actor Readiness {
  private let ask: @Sendable () async -> String?
  private let pause: @Sendable () async -> Void
  private var isAsking = false
  private var waiting: [Int: CheckedContinuation<String?, Never>] = [:]
  private var names = 0
  private var last: (reason: String?, at: ContinuousClock.Instant)?

  init(_ session: StoreSession) {
    self.init {
      do throws(StoreFailure) {
        // Who calls is looked up there. A shard that is away keeps its own apps' requests alone from being answered.
        try await session.run(in: .home) { store throws(RedisError) in
          try await Self.ask(store.connection)
        }
        return nil
      } catch {
        return error.description
      }
    } pause: {
      try? await Task.sleep(for: .seconds(ServerLimits.readySeconds))
    }
  }

  /// - Parameters:
  ///   - ask: returns why Redis cannot be used; nil when it can.
  ///   - pause: waits for as long as an answer may take.
  init(
    _ ask: @escaping @Sendable () async -> String?, pause: @escaping @Sendable () async -> Void
  ) {
    self.ask = ask
    self.pause = pause
  }

  /// A Redis that cannot save refuses PING along with every write (redis.io, "stop-writes-on-bgsave-error"), and answers what only
  /// reads.
  private static func ask(_ redis: RedisConnection) async throws(RedisError) {
    do throws(RedisError) { _ = try await redis.call(RedisCommand("PING")) } catch {
      guard case .server("MISCONF", _) = error else { throw error }
    }
  }

  /// Why the server cannot work; nil when it can.
  func reason() async -> String? {
    if let last, last.at.duration(to: .now) < .milliseconds(ServerLimits.readyKeptMs) {
      return last.reason
    }
    return await withCheckedContinuation { continuation in
      names += 1
      let name = names
      waiting[name] = continuation
      Task {
        await pause()
        waiting.removeValue(forKey: name)?
          .resume(returning: "Redis did not answer within \(ServerLimits.readySeconds) s")
      }
      guard !isAsking else { return }
      isAsking = true
      Task { answered(await ask()) }
    }
  }

  private func answered(_ reason: String?) {
    isAsking = false
    last = (reason, .now)
    for continuation in waiting.values { continuation.resume(returning: reason) }
    waiting = [:]
  }
}
