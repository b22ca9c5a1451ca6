internal import Reactor

extension RedisConnection {
  /// Logs in and checks that the server serves at least those that read: AUTH, SELECT, PING, EXISTS, TIME, CLIENT SETNAME, and the functions.
  /// All but the last go out together; the connection is ready when every one of them is answered.
  func greet() {
    state = .greeting
    let login = endpoint.login
    let selects = endpoint.database != 0
    greetingsLeft = 1 + (login == nil ? 0 : 1) + (selects ? 1 : 0)
    if let login {
      write(login, timeoutMs: RedisLimits.commandTimeoutMs) { [unowned self] result in
        greeted(result.mapError { LoginRefusal.error(for: $0, user: endpoint.user) })
      }
    }
    if selects {
      let select = RedisCommand("SELECT", String(endpoint.database))
      write(select, timeoutMs: RedisLimits.commandTimeoutMs) { [unowned self] result in
        greeted(result)
      }
    }
    // A server that is loading its data, or a replica without its master, answers PING with an error.
    write(RedisCommand("PING"), timeoutMs: RedisLimits.commandTimeoutMs) {
      [unowned self] result in
      // One that cannot save refuses PING along with every write (redis.io, "stop-writes-on-bgsave-error"), and answers what
      // only reads.
      if case .failure(.server("MISCONF", _)) = result { return greeted(nil) }
      greeted(result)
    }
    if let slotKey = endpoint.slotKey { probe(slotKey) }
    if onTime != nil { askTime() }
    // Only a name for CLIENT LIST: an ACL that forbids it is no reason to stay away.
    write(
      RedisCommand("CLIENT", "SETNAME", endpoint.clientName),
      timeoutMs: RedisLimits.commandTimeoutMs
    ) { _ in }
  }

  /// A node of a cluster that answers PING may still serve none of our keys: then it is left before this connection
  /// is called ready. Any other refusal of the question, as by an ACL, says nothing.
  private func probe(_ slotKey: String) {
    greetingsLeft += 1
    write(
      RedisCommand("EXISTS", slotKey), timeoutMs: RedisLimits.commandTimeoutMs
    ) { [unowned self] result in
      switch result {
      case .failure(let error) where clusterRefusal(error) != nil: greeted(error)
      case .failure(.server): greeted(nil)
      case .failure(let error): greeted(error)
      case .success: greeted(nil)
      }
    }
  }

  /// Functions ask for it as well, so no ACL that lets workers work forbids it.
  private func askTime() {
    let sentNs = loop.nowNs
    greetingsLeft += 1
    write(RedisCommand("TIME"), timeoutMs: RedisLimits.commandTimeoutMs) { [unowned self] result in
      if case .success(let reply) = result, let serverMs = reply.timeMs {
        onTime?(serverMs, sentNs, loop.nowNs)
      }
      greeted(result)
    }
  }

  private func greeted(_ result: Result<RedisReply, RedisError>) {
    if case .failure(let error) = result { greeted(error) } else { greeted(nil) }
  }

  private func greeted(_ failure: RedisError?) {
    guard state == .greeting else { return }
    if let failure { return discard(failure) }
    greetingsLeft -= 1
    guard greetingsLeft == 0 else { return }
    guard let library else { return becomeReady() }
    let list = RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", library.name)
    write(list, timeoutMs: RedisLimits.commandTimeoutMs) { [unowned self] result in
      guard state == .greeting else { return }
      switch result {
      case .success(let reply) where reply.count > 0: becomeReady()
      case .failure(let error) where error.isCommandUnknown: refuseServer(lacking: "FUNCTION")
      case .success where !needsLibrary: becomeReady()
      case .failure(let error) where !needsLibrary && error.missingRight != nil: becomeReady()
      case .success, .failure: loadLibrary { [unowned self] in greetedLibrary($0) }
      }
    }
  }

  private func greetedLibrary(_ failure: RedisError?) {
    guard state == .greeting else { return }
    // Out of memory is a state of the server, not of this connection: what needs no memory still works.
    if let failure, !failure.isTemporary { discard(failure) } else { becomeReady() }
  }

  /// Leaves a server that does not know a command, and says which version it is.
  private func refuseServer(lacking command: String) {
    write(RedisCommand("INFO", "server"), timeoutMs: RedisLimits.commandTimeoutMs) {
      [unowned self] result in
      guard state == .greeting else { return }
      let version = (try? result.get()).flatMap { Self.version(in: $0.string) }
      let name = version.map { "Redis \($0)" } ?? "the server"
      discard(
        .unsuitable(
          reason:
            "\(name) does not know \(command): pushpool needs Redis 7.0 or later with functions"))
    }
  }

  /// Returns the version that INFO says, for instance `6.2.14`.
  private static func version(in info: String) -> String? {
    let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("redis_version:") }
    return line.map { String($0.dropFirst("redis_version:".count).prefix(32)) }
  }

  /// Loads the functions, once for all who ask meanwhile; calls back with nil when they are there.
  func loadLibrary(_ done: @escaping (RedisError?) -> Void) {
    guard let library else { return done(nil) }
    libraryWaiters.append(done)
    guard libraryWaiters.count == 1 else { return }
    write(
      RedisCommand("FUNCTION", "LOAD", library.source), timeoutMs: RedisLimits.commandTimeoutMs
    ) { [unowned self] result in
      let waiters = libraryWaiters
      libraryWaiters = []
      let failure = Self.libraryFailure(result)
      for waiter in waiters { waiter(failure) }
    }
  }

  private static func libraryFailure(_ result: Result<RedisReply, RedisError>) -> RedisError? {
    switch result {
    case .success: nil
    // Another worker was faster; the version in the name says that it is the same source.
    case .failure(.server(_, let message)) where message.contains("already exists"): nil
    case .failure(let error): error
    }
  }
}

extension RedisReply {
  /// The reply to TIME in epoch milliseconds; nil when it is something else.
  fileprivate var timeMs: Int64? {
    guard count == 2, let seconds = self[0].integer, let microseconds = self[1].integer,
      (0...RedisLimits.epochSecondsMax).contains(seconds), (0..<1_000_000).contains(microseconds)
    else { return nil }
    return Int64(seconds) * 1_000 + Int64(microseconds) / 1_000
  }
}
