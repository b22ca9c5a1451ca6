import Model
import Reactor
import Redis
import Stage
import Store

/// The runner's own connection to Redis: a producer, an operator and an observer. It goes past every fault
/// proxy, and outlives restarts of the server.
actor ChaosSession {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private static let jobs = "pushpool:jobs:normal"
  private let access: StoreAccess
  /// Where jobs are added: nil for the same place.
  private let producing: StoreAccess?
  private var connection: RedisConnection { access.connection }
  var store: ShardStore { access.store }

  /// Whether a job counts as enqueued only when a replica has it, too.
  private let awaitsReplica: Bool

  /// - Parameters:
  ///   - prefix: nil for the usual.
  ///   - producersURL: where jobs are added; nil for the same place.
  static func open(
    url: String, prefix: String? = nil, library: FunctionLibrary = StoreLibrary.library,
    awaitsReplica: Bool = false, producersURL: String? = nil
  ) async throws -> ChaosSession {
    let loop = try EventLoop(name: "chaos redis")
    try loop.start()
    let session = try ChaosSession(
      access: StoreAccess(loop: loop, url: url, prefix: prefix, library: library),
      producing: producersURL.map {
        try StoreAccess(loop: loop, url: $0, prefix: prefix, library: library)
      }, awaitsReplica: awaitsReplica)
    try await session.connect()
    return session
  }

  private init(access: StoreAccess, producing: StoreAccess?, awaitsReplica: Bool) {
    loop = access.loop
    self.access = access
    self.producing = producing
    self.awaitsReplica = awaitsReplica
  }

  private func connect() async throws {
    try await access.connect(timeoutMs: ChaosLimits.startMsMax)
    try await producing?.connect(timeoutMs: ChaosLimits.startMsMax)
  }

  func close() {
    producing?.connection.close()
    access.close()
  }

  func install(_ batch: [Installation]) async throws {
    let answer = try await store.installations.importBatch(batch)
    guard answer.created == batch.count else {
      throw ChaosError("of \(batch.count) installations \(answer.created) were created: \(answer)")
    }
  }

  func subscribe(_ batch: [Subscription]) async throws {
    let count = try await store.audiences.subscribe(batch)
    guard count == batch.count else {
      throw ChaosError("of \(batch.count) users \(count) were subscribed")
    }
  }

  /// Enqueues until Redis says that it has it: a job of the same id and content counts once.
  func enqueue(_ job: [UInt8], priority: Priority = .normal) async throws {
    _ = try await insisting(in: producing?.store ?? store) { store in
      let entry = try await store.jobs.enqueue(job, priority: priority)
      if awaitsReplica { try await expectReplicated() }
      return entry
    }
  }

  /// Fails, for as long as it may be tried again, unless a replica has all that was written by this connection.
  private func expectReplicated() async throws(RedisError) {
    let count = try await command("WAIT", "1", String(ChaosLimits.replicaMs)).integer ?? 0
    guard count > 0 else { throw .unavailable(reason: "no replica has it") }
  }

  /// Enqueues these at once: one round trip for all.
  func add(_ jobs: [[UInt8]]) async throws {
    var failure: RedisError?
    for job in jobs.dropLast() {
      var command = RedisCommand("XADD", Self.jobs, "*", "job")
      command.append(job)
      connection.send(command) { result in
        if case .failure(let error) = result { failure = error }
      }
    }
    guard let last = jobs.last else { return }
    // Replies come in order: with the last one all are there.
    _ = try await store.jobs.enqueue(last, priority: .normal)
    if let failure { throw failure }
  }

  func record(app: String, id: String) async throws -> JobRecord? {
    try await insisting { store in try await store.jobs.record(app: app, id: id) }
  }

  func cancel(app: String, id: String) async throws -> JobState? {
    try await insisting { store in try await store.jobs.cancel(app: app, id: id) }
  }

  func pause(app: String, id: String) async throws -> JobState? {
    try await insisting { store in try await store.jobs.pause(app: app, id: id) }
  }

  func resume(app: String, id: String) async throws -> JobState? {
    try await insisting { store in try await store.jobs.resume(app: app, id: id) }
  }

  /// Looks after a job as a worker does each minute.
  func reconcile(app: String, id: String) async throws {
    _ = try await insisting { store in try await store.jobs.reconcile(app: app, id: id) }
  }

  /// Reads all dead letters as an operator does, page by page.
  func listDeadLetters() async throws {
    var after: String?
    while true {
      let start = after
      let page = try await insisting { store in
        try await store.deadLetters.list(after: start, max: 100)
      }
      guard let last = page.last else { return }
      after = last.entry
    }
  }

  /// The badges of these tokens; 0 for none.
  func badges(app: String, _ network: Network, tokens: [String]) async throws -> [Int] {
    let read = """
      local found = {}
      for i, key in ipairs(KEYS) do found[i] = redis.call('HGET', key, 'badge') or '0' end
      return found
      """
    let keys = tokens.map { "pushpool:token:\(network.rawValue):\(app):\($0)" }
    let reply = try await command(["EVAL", read, String(keys.count)] + keys)
    return (reply.array ?? []).map { $0.string.flatMap { Int($0) } ?? -1 }
  }

  /// The dead letters whose originals are kept beside them.
  func largeLetters() async throws -> [String] {
    let letters = try await insisting { store in
      try await store.deadLetters.list(max: 1_000)
    }
    return letters.filter { $0.fields["kept"] != nil }.map(\.entry)
  }

  func retryDeadLetter(_ entry: String) async throws {
    _ = try await insisting { store in try await store.deadLetters.retry(entry) }
  }

  /// Any command, once.
  func command(_ words: String...) async throws(RedisError) -> RESPValue {
    try await command(words)
  }

  func command(_ words: [String]) async throws(RedisError) -> RESPValue {
    var command = RedisCommand()
    for word in words { command.append(word) }
    return try await connection.call(command)
  }

  /// Removes the credentials that the fleet shares, as their expiry does.
  func forgetCredentials() async throws(RedisError) {
    for key in try await command("KEYS", "pushpool:credential:*").array ?? [] {
      _ = try await command("DEL", key.string ?? "")
    }
  }

  /// Repeats what may be repeated for as long as Redis cannot be asked.
  func insisting<Value: Sendable>(
    _ body: (ShardStore) async throws -> Value
  ) async throws -> Value {
    try await insisting(in: store, body)
  }

  private func insisting<Value: Sendable>(
    in store: ShardStore, _ body: (ShardStore) async throws -> Value
  ) async throws -> Value {
    let deadlineNs = loop.nowNs + ChaosLimits.enqueueMsMax * 1_000_000
    while true {
      do {
        return try await body(store)
      } catch let error as RedisError {
        guard error.isTemporary || Self.isOfAFault(error), loop.nowNs < deadlineNs else {
          throw error
        }
        await loop.sleep(ms: ChaosLimits.retryMs)
      }
    }
  }

  /// Refusals that the runs bring about themselves and lift again.
  private static func isOfAFault(_ error: RedisError) -> Bool {
    guard case .server(let code, let message) = error else { return false }
    return [
      "NOREPLICAS", "WRONGTYPE", "LOADING", "READONLY", "OOM", "MISCONF", "NOPERM",
    ]
    .contains(code)
      || message.contains("Function not found")
  }
}
