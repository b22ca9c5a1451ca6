import LocalServices
import Redis

extension ChaosStage {
  struct StreamEntry: Sendable {
    let id: String
    let fields: [String: String]
  }

  func entries(_ stream: String) async throws -> [StreamEntry] {
    let reply = try await session.command("XRANGE", stream, "-", "+")
    return (reply.array ?? []).compactMap { item in
      guard let parts = item.array, parts.count == 2, let id = parts[0].string else { return nil }
      return StreamEntry(
        id: id, fields: Dictionary(parts[1].pairs, uniquingKeysWith: { $1 }))
    }
  }

  func deadLetters() async throws -> [[String: String]] {
    try await entries("pushpool:dead").map(\.fields)
  }

  /// Looks again until there is a value; nil when there was none in that time.
  func eventually<Value>(
    _ patienceMs: UInt64, _ look: () async throws -> Value?
  ) async throws -> Value? {
    let deadline = ContinuousClock.now + .milliseconds(patienceMs)
    while ContinuousClock.now < deadline {
      if let value = try await look() { return value }
      try await Self.pause(ms: ChaosLimits.pollMs / 5)
    }
    return nil
  }

  /// Gives Redis a command that has to succeed. It is repeated while there is no connection to send it by: others that wrote
  /// by it may have been refused.
  func tell(_ words: String...) async throws {
    let refusal: RedisError? = try await session.insisting { _ in
      if case .error(let error) = try await session.command(words) { return error }
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Kills Redis at a moment when no slow disk has it put off writing its append-only file: what is put off is lost with
  /// the process, as the guarantees say.
  func crashRedis() async {
    _ = try? await eventually(ChaosLimits.diskPatienceMs) {
      let persistence = try await session.command("INFO", "persistence").string ?? ""
      return persistence.contains("aof_pending_bio_fsync:1") ? nil : true
    }
    await redis.kill9()
  }
}
