import Model
import Redis
import TestSupport
import Testing

@testable import Store

extension ShardStore {
  /// What the fleet has once, when this is its home.
  var fleet: FleetStore { FleetStore(connection: connection, prefix: keys.prefix) }

  func redis(_ words: String...) async throws(RedisError) -> RESPValue {
    try await redis(words)
  }

  func redis(_ words: [String]) async throws(RedisError) -> RESPValue {
    var command = RedisCommand()
    for word in words { command.append(word) }
    return try await connection.call(command, timeoutMs: TestLane.patienceMs)
  }

  /// Installs an APNs token.
  @discardableResult
  func install(
    _ user: String, _ token: String, app: String = "shop", updatedAtMs: Int64? = nil
  ) async throws -> InstallResult {
    var installation = Installation(
      app: app, user: user, token: DeviceToken(stored: token, network: .apns))
    installation.updatedAtMs = updatedAtMs
    return try await installations.install(installation)
  }

  func binding(_ token: String) async throws -> StoredInstallation? {
    try await installations.installation(
      app: "shop", token: DeviceToken(stored: token, network: .apns))
  }

  func tokens(of user: String) async throws -> [String] {
    try await installations.devices(app: "shop", user: user).map { $0.installation.token.text }
  }

  /// Enqueues a job and takes it.
  func takeNew(
    _ consumer: String = "worker", priority: Priority = .normal
  ) async throws -> JobEntry {
    let added = try await jobs.enqueue(Array("{}".utf8), priority: priority)
    let entries = try await jobs.take(consumer: consumer, max: 1)
    let entry = try #require(entries.first)
    #expect(entry.entry == added)
    return entry
  }

  /// The same with so many.
  func takeNew(_ consumer: String, count: Int) async throws -> [JobEntry] {
    for _ in 0..<count { _ = try await jobs.enqueue(Array("{}".utf8), priority: .normal) }
    let entries = try await jobs.take(consumer: consumer, max: count)
    #expect(entries.count == count)
    return entries
  }

  /// Lets it look as if nobody had renewed the leases of the jobs for 500 s.
  func abandon(_ entries: [String], by consumer: String = "dead") async throws {
    _ = try await redis(
      ["XCLAIM", keys.jobs(.normal), "workers", consumer, "0"] + entries
        + ["IDLE", "500000", "JUSTID"])
  }

  /// Admits a job to users, with so many in each segment.
  @discardableResult
  func admit(
    _ id: String, users: [[String]], window: Int = 256, priority: Priority = .normal,
    digest: String = "digest", app: String = "shop", bucket: String? = nil,
    eventsPerMinute: Int = 0, startAtMs: Int64? = nil
  ) async throws -> AdmissionAnswer {
    let entry = try await takeNew(priority: priority)
    let segments = users.map { Array($0.map { $0 + "\n" }.joined().utf8) }
    #expect(try await jobs.upload(segments, first: 1, of: entry, consumer: "worker"))
    let admission = Admission(
      app: app, id: id, digest: digest, content: Array("{\"content\":1}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: users.joined().count, segments: segments.count, window: window),
      timing: Admission.Timing(startAtMs: startAtMs),
      loopGuard: Admission.LoopGuard(bucket: bucket, eventsPerMinute: eventsPerMinute))
    return try await jobs.admit(entry, admission, consumer: "worker")
  }

  func record(_ id: String, app: String = "shop") async throws -> JobRecord {
    try #require(try await jobs.record(app: app, id: id))
  }

  /// Makes all delayed chunks due.
  func hurry() async throws {
    let script = """
      for _, m in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, m) end
      """
    _ = try await redis("EVAL", script, "1", keys.delayed)
  }

  func claimOne(_ consumer: String = "worker") async throws -> ChunkClaim {
    let claims = try await chunks.claim(consumer: consumer, max: 1)
    return try #require(claims.first)
  }

  /// Everything under the prefix, in order.
  func allKeys() async throws -> [String] {
    (try await redis("KEYS", "*").array ?? []).compactMap { $0.string }.sorted()
  }
}

extension ChunkClaim {
  var recipientList: [String] {
    recipients.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Settlement {
  /// Ends a chunk of users, each with one installation of the outcome.
  static func final(
    accepted: Int = 0, skipped: Int = 0, users: Int? = nil
  ) -> Settlement {
    var settlement = Settlement()
    settlement.isFinal = true
    var counts = OutcomeCounts()
    counts.accepted = accepted
    counts.skipped = skipped
    settlement.counts = [.apns: counts]
    for _ in 0..<(users ?? 0) { settlement.resolveUser(installations: 1) }
    return settlement
  }
}
