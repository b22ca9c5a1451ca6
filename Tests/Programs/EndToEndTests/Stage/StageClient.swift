import LocalServices
import Model
import Reactor
import Redis
import Stage
import Store

/// What a test says to the store: a producer, a backend and a dashboard in one.
final class StageClient: Sendable {
  private actor Session {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let access: StoreAccess

    init(loop: EventLoop, url: String, prefix: String?) throws {
      self.loop = loop
      access = try StoreAccess(loop: loop, url: url, prefix: prefix)
    }

    func run<Value: Sendable>(
      _ body: @Sendable (isolated Session, ShardStore) async throws -> Value
    ) async throws -> Value {
      try await access.connect(timeoutMs: 30_000)
      return try await body(self, access.store)
    }

    func command(_ words: [String]) async throws -> RESPValue {
      // As long as a machine may take that other tests keep busy.
      try await access.connection.call(Self.command(words), timeoutMs: 60_000)
    }

    private static func command(_ words: [String]) -> RedisCommand {
      var command = RedisCommand()
      for word in words { command.append(word) }
      return command
    }

    func close() { access.close() }
  }

  private let session: Session

  /// - Parameter prefix: nil for the usual.
  init(url: String, prefix: String? = nil) throws {
    let loop = try EventLoop(name: "stage")
    try loop.start()
    session = try Session(loop: loop, url: url, prefix: prefix)
  }

  func stop() {
    let session = session
    Task { await session.close() }
  }

  func install(_ installations: [Installation]) async throws {
    let size = StoreLimits.importBatchMax
    for first in stride(from: 0, to: installations.count, by: size) {
      let batch = Array(installations[first..<min(first + size, installations.count)])
      _ = try await session.run { _, store in try await store.installations.importBatch(batch) }
    }
  }

  func subscribe(_ users: [String], to topic: String) async throws {
    let size = StoreLimits.subscriptionsMax
    for first in stride(from: 0, to: users.count, by: size) {
      let batch = users[first..<min(first + size, users.count)].map {
        Subscription(app: "shop", topic: topic, user: $0)
      }
      _ = try await session.run { _, store in try await store.audiences.subscribe(batch) }
    }
  }

  func enqueue(_ json: String, priority: Priority = .normal) async throws -> String {
    try await session.run { _, store in
      try await store.jobs.enqueue(Array(json.utf8), priority: priority)
    }
  }

  /// Enqueues what need not even be text.
  func enqueue(bytes: [UInt8]) async throws -> String {
    try await session.run { _, store in try await store.jobs.enqueue(bytes, priority: .normal) }
  }

  func record(_ id: String, app: String = "shop") async throws -> JobRecord? {
    try await session.run { _, store in try await store.jobs.record(app: app, id: id) }
  }

  func devices(_ user: String, app: String = "shop") async throws -> [StoredInstallation] {
    try await session.run { _, store in
      try await store.installations.devices(app: app, user: user)
    }
  }

  func alarms(nowMs: Int64) async throws -> [Alarm] {
    try await session.run { _, store in try await store.alarms.current(nowMs: nowMs) }
  }

  func uninstall(_ token: DeviceToken, app: String = "shop") async throws {
    _ = try await session.run { _, store in
      try await store.installations.uninstall(app: app, token: token)
    }
  }

  func cancel(_ id: String, app: String = "shop") async throws -> JobState? {
    try await session.run { _, store in try await store.jobs.cancel(app: app, id: id) }
  }

  func pause(_ id: String, app: String = "shop") async throws -> JobState? {
    try await session.run { _, store in try await store.jobs.pause(app: app, id: id) }
  }

  func resume(_ id: String, app: String = "shop") async throws -> JobState? {
    try await session.run { _, store in try await store.jobs.resume(app: app, id: id) }
  }

  func command(_ words: String...) async throws -> RESPValue { try await command(words: words) }

  func command(words: [String]) async throws -> RESPValue {
    try await session.run { session, _ in try await session.command(words) }
  }

  /// The job's record once it is final; fails when that takes longer than the limit.
  func finished(
    _ id: String, app: String = "shop", withinSeconds: Double = PushStage.patienceSeconds
  ) async throws -> JobRecord {
    try await eventually(withinSeconds: withinSeconds, "job \(id) finishes") {
      let record = try await self.record(id, app: app)
      return record?.state.isFinal == true && record?.refusal == nil ? record : nil
    }
  }
}

struct NeverHappened: Error, CustomStringConvertible {
  let description: String
}

/// Polls until there is a value: a bounded wait on something observable, not a sleep for luck.
func eventually<Value>(
  withinSeconds: Double = PushStage.patienceSeconds, _ what: String,
  _ poll: () async throws -> Value?
) async throws -> Value {
  let clock = ContinuousClock()
  let deadline = clock.now + .seconds(withinSeconds)
  while true {
    // Late or not, what has happened counts: on a busy machine a poll may be long in coming.
    let isLast = clock.now >= deadline
    if let value = try await poll() { return value }
    guard !isLast else {
      throw NeverHappened(description: "\(what): not within \(withinSeconds) s")
    }
    try await clock.sleep(until: clock.now + .milliseconds(5))
  }
}
