import Model
import PushpoolConfiguration
import Reactor
import Redis
import Stage
import Store

/// The benchmark's connection to Redis: a producer and an observer.
actor BenchSession {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let access: StoreAccess
  private var connection: RedisConnection { access.connection }
  private var store: ShardStore { access.store }
  private var apps: AppRecordStore {
    FleetStore(connection: connection, prefix: RedisConfiguration.prefixDefault).apps
  }
  /// Commands of this session, to be taken off from what the server counted.
  private(set) var commands = 0

  /// Connects to a server that runs.
  static func open(url: String) async throws -> BenchSession {
    let loop = try EventLoop(name: "bench redis")
    try loop.start()
    let session = try BenchSession(loop: loop, url: url)
    try await session.connect()
    return session
  }

  private init(loop: EventLoop, url: String) throws {
    self.loop = loop
    access = try StoreAccess(loop: loop, url: url)
  }

  private func connect() async throws {
    try await access.connect(timeoutMs: BenchLimits.startMsMax)
  }

  func close() { access.close() }

  func importBatch(_ batch: [Installation]) async throws -> ImportAnswer {
    try await store.installations.importBatch(batch)
  }

  /// - Returns: when the command left, without what it took this program to change threads.
  @discardableResult
  func enqueue(
    _ job: [UInt8], priority: Priority = .normal
  ) async throws -> ContinuousClock.Instant {
    commands += 1
    let start = ContinuousClock.now
    _ = try await store.jobs.enqueue(job, priority: priority)
    return start
  }

  /// Why a job became a dead letter; nil when none did.
  func refusal() async throws -> String? {
    commands += 1
    return try await store.deadLetters.list(max: 1).first.map { "\($0.field) \($0.message)" }
  }

  /// Puts apps there that are not there yet.
  func put(_ records: [(id: String, value: [UInt8])]) async throws {
    commands += records.count
    for (id, value) in records {
      let answer = try await apps.put(id, value: value, .add)
      guard answer == .added else { throw BenchError("\(id) was not added: \(answer)") }
    }
  }

  func removeApps(_ ids: [String]) async throws {
    commands += ids.count
    for id in ids { _ = try await apps.remove(id) }
  }

  /// Adds members to a SET.
  func add(_ members: [String], to key: String) async throws {
    commands += 1
    var command = RedisCommand("SADD", key)
    for member in members { command.append(member) }
    _ = try await connection.call(command)
  }

  /// Subscribes users to a topic.
  func subscribe(_ users: [String], to topic: String) async throws {
    commands += 1
    _ = try await store.audiences.subscribe(
      users.map { Subscription(app: Population.app, topic: topic, user: $0) })
  }

  /// Sets fields of a HASH.
  func set(_ fields: [(name: String, value: String)], in key: String) async throws {
    commands += 1
    var command = RedisCommand("HSET", key)
    for field in fields {
      command.append(field.name)
      command.append(field.value)
    }
    _ = try await connection.call(command)
  }

  /// Puts the functions for registration there.
  func provideRegistration() async throws { try await store.registration.provide() }

  /// Sends commands one behind the other, and waits until all are answered.
  /// - Throws: one of the errors that they are answered with.
  func pipeline(_ batch: [[String]]) async throws {
    commands += batch.count + 1
    var failure: RedisError?
    for words in batch {
      var command = RedisCommand()
      for word in words { command.append(word) }
      connection.send(command) { result in
        if case .failure(let error) = result { failure = error }
      }
    }
    _ = try await connection.call(RedisCommand("PING"))
    if let failure { throw failure }
  }

  /// Returns how much the server has allocated, in bytes.
  func usedMemory() async throws -> Int {
    commands += 1
    let info = try await connection.call(RedisCommand("INFO", "memory")).string
    guard let bytes = info.flatMap({ RedisUsage.usedMemory(info: $0) }) else {
      throw BenchError("redis-server's INFO shows no used_memory")
    }
    return bytes
  }

  /// Returns how much the server keeps, in bytes, without the stream of jobs that have ended: that is bounded by its
  /// length.
  func unboundedMemory() async throws -> Int {
    commands += 1
    let finished = try await connection.call(
      RedisCommand("MEMORY", "USAGE", store.keys.finished, "SAMPLES", "0"))
    return try await usedMemory() - Int(finished.integer ?? 0)
  }

  /// From now on the server measures its calls anew, and notes those that take long. Not together with `usage`.
  func watchCalls() async throws {
    commands += 3
    _ = try await connection.call(
      RedisCommand(
        "CONFIG", "SET", "slowlog-log-slower-than", String(BenchLimits.notedCallMicroseconds),
        "slowlog-max-len", String(BenchLimits.notedCallsMax), "latency-tracking", "yes"))
    _ = try await connection.call(RedisCommand("SLOWLOG", "RESET"))
    _ = try await connection.call(RedisCommand("CONFIG", "RESETSTAT"))
  }

  /// Returns the time that calls of functions took since `watchCalls`.
  func functionCalls() async throws -> FunctionCalls {
    commands += 2
    let info = try await connection.call(RedisCommand("INFO", "latencystats")).string ?? ""
    let noted = try await connection.call(RedisCommand("SLOWLOG", "GET", "-1"))
    let microseconds = (noted.array ?? []).compactMap { entry -> Int? in
      guard let entry = entry.array, entry.count > 3,
        entry[3].array?.first?.string?.uppercased() == "FCALL"
      else { return nil }
      return entry[2].integer.map { Int($0) }
    }
    guard
      let calls = FunctionCalls(
        info: info, longestMs: microseconds.max().map { Double($0) / 1_000 })
    else { throw BenchError("redis-server's INFO shows no latencies of functions") }
    return calls
  }

  /// Takes in a job of one user that starts later: what a worker would do.
  func schedule(_ id: String, user: String, _ message: Message, startAtMs: Int64) async throws {
    commands += 3
    _ = try await store.jobs.enqueue(Array("{}".utf8), priority: .normal)
    let entry = try await store.jobs.take(consumer: "bench", max: 1).first
    let admission = Admission(
      app: Population.app, id: id, digest: id, content: Array("{\(message.content)}".utf8),
      audience: Admission.Audience(
        lines: .users, recipients: 1, segments: 1, texts: [Array("\(user)\n".utf8)]),
      timing: Admission.Timing(startAtMs: startAtMs))
    guard let entry,
      try await store.jobs.admit(entry, admission, consumer: "bench") == .admitted
    else { throw BenchError("job \(id) was not taken in") }
  }

  /// Chunks that wait for their time or for room.
  func delayedChunks() async throws -> Int {
    commands += 1
    return try await connection.call(RedisCommand("ZCARD", store.keys.delayed)).integer ?? 0
  }

  func record(_ id: String) async throws -> JobRecord? {
    commands += 1
    return try await store.jobs.record(app: Population.app, id: id)
  }

  /// Returns what the server did so far without this session's part.
  func usage() async throws -> RedisUsage {
    commands += 1
    let info = try await connection.call(RedisCommand("INFO", "stats", "commandstats", "cpu"))
      .string
    guard var usage = info.flatMap({ RedisUsage(info: $0) }) else {
      throw BenchError("redis-server's INFO shows no total_commands_processed")
    }
    usage.commands -= commands
    return usage
  }
}
