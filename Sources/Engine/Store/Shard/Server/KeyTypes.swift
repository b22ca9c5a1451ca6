package import Model
package import Redis

/// Whether the keys that the work stands on hold what they should. Workers move aside what is of another type
/// (Functions/Library/types.lua); this tells of it while none does.
package struct KeyTypes {
  /// A key that holds another type than it should. It may name a user or a token.
  package struct Finding: Sendable, Equatable {
    package let key: String
    /// Types as TYPE names them.
    package let found: String
    package let expected: String
    /// Where a worker or a hand moves what is there.
    package let aside: String
    /// Which of the keys it is that no worker moves; nil for any other.
    package let staying: Staying?

    package var sentence: String { "\(key) holds a \(found), not a \(expected)" }
  }

  /// The keys whose loss would be worse than their standstill.
  package enum Staying: Sendable, Equatable {
    case switches, generation, indexed, shard

    /// Says what to do about another type there, with the commands to type. Each leaves no moment in which the key is
    /// missing and that would do harm.
    package func remedy(_ key: String) -> String {
      switch self {
      case .switches:
        "to delete the key would switch all on: put what is to be off in its place, as "
          + "redis-cli HSET \(key):new \"app|shop\" why, then redis-cli RENAME \(key):new \(key)"
      case .generation:
        // Higher than any number that was ever drawn.
        "write a number there that is higher than any before: redis-cli SET \(key) $(date +%s)000"
      case .indexed:
        "delete the key, and run pushpool index for each app; until that has ended such jobs become "
          + "dead letters (not_indexed), to be tried again"
      case .shard: "delete the key, and the next worker writes it"
      }
    }
  }

  let functions: StoreFunctions

  /// An alarm for each key that holds another type now. It only reads, and needs no functions. Keys that may not be asked are
  /// left out.
  package func alarms(nowMs: Int64) async throws(RedisError) -> [Alarm] {
    var alarms: [Alarm] = []
    for (key, expected) in moved + staying + minutes(nowMs) {
      guard let finding = try await finding(key, expected) else { continue }
      let name = String(key.dropFirst(functions.keys.prefix.count + 1))
      alarms.append(
        Alarm(
          field: AlarmKind.wrongType.field(name), atMs: nowMs, untilMs: nowMs,
          message: "\(finding.sentence)\(consequence(of: finding))"))
    }
    return alarms
  }

  /// The keys that stand in the way of a command: the one that its error names, those of what it is about, or else those that
  /// all work needs. Those that may not be asked are left out.
  /// - Parameter subjects: what it is about; no more than one key that is wrong is told of them.
  package func findings(
    after error: RedisError, about subjects: [KeySubject]
  ) async throws(RedisError) -> [Finding] {
    if let key = error.wrongTypeKey, let expected = expectedType(of: key),
      let finding = try await finding(key, expected)
    {
      return [finding]
    }
    for subject in subjects {
      if let finding = try await finding(about: subject) { return [finding] }
    }
    var findings: [Finding] = []
    for (key, expected) in moved + staying {
      if let finding = try await finding(key, expected) { findings.append(finding) }
    }
    return findings
  }

  /// Nil when the key holds what it should, or nothing, or may not be asked.
  private func finding(_ key: String, _ expected: String) async throws(RedisError) -> Finding? {
    let found: String
    do throws(RedisError) {
      found = try await functions.connection.call(RedisCommand("TYPE", key)) { $0.string }
    } catch {
      guard case .server = error else { throw error }
      return nil
    }
    guard found != "none", found != expected else { return nil }
    let keys = functions.keys
    let staying: Staying? =
      switch key {
      case keys.switches: .switches
      case keys.generation: .generation
      case keys.indexed: .indexed
      case keys.shard: .shard
      default: nil
      }
    return Finding(
      key: key, found: found, expected: expected,
      aside: keys.displaced(String(key.dropFirst(keys.prefix.count + 1))), staying: staying)
  }

  private func finding(about subject: KeySubject) async throws(RedisError) -> Finding? {
    let keys = functions.keys
    switch subject {
    case .user(let app, let user):
      let key = keys.user(app: app, user: user)
      if let finding = try await finding(key, "string") { return finding }
      let tokens = try await allowed([]) { () async throws(RedisError) in
        try await functions.connection.call(RedisCommand("GET", key)) { reply in
          BindingLines(reply.bytes).map { line in
            DeviceToken(stored: String(decoding: line.token, as: UTF8.self), network: line.network)
          }
        }
      }
      for token in tokens {
        let key = keys.token(token.network, app: app, token: token.text)
        if let finding = try await finding(key, "hash") { return finding }
      }
      return nil
    case .token(let app, let token):
      let key = keys.token(token.network, app: app, token: token.text)
      if let finding = try await finding(key, "hash") { return finding }
      let owner = try await allowed(nil) { () async throws(RedisError) in
        try await functions.connection.call(RedisCommand("HGET", key, "user")).string
      }
      guard let owner else { return nil }
      return try await finding(keys.user(app: app, user: owner), "string")
    case .job(let app, let id):
      for (key, expected) in [
        (keys.job(app: app, id: id), "hash"), (keys.content(app: app, id: id), "string"),
        (keys.trace(app: app, job: id), "stream"),
      ] {
        if let finding = try await finding(key, expected) { return finding }
      }
      return nil
    case .audiences(let app): return try await finding(keys.audiences(app: app), "hash")
    }
  }

  /// Returns `none` for a key that may not be read.
  private func allowed<Value>(
    _ none: Value, _ read: () async throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    do throws(RedisError) { return try await read() } catch {
      guard case .server = error else { throw error }
      return none
    }
  }

  // MARK: The keys

  /// The keys which a worker moves aside when they hold another type, and the type of each.
  private var moved: [(String, String)] {
    let keys = functions.keys
    let ofPriorities: [(String, String)] = Priority.allCases.flatMap {
      [(keys.jobs($0), "stream"), (keys.chunks($0), "stream"), (keys.readyApps($0), "zset")]
    }
    return ofPriorities + [
      (keys.delayed, "zset"), (keys.open, "set"), (keys.finished, "stream"), (keys.dead, "stream"),
      (keys.uninstalled, "stream"), (keys.audit, "stream"), (keys.timeline, "stream"),
      (keys.workers, "zset"), (keys.alarms, "hash"), (keys.unbound, "zset"),
      (keys.totals, "hash"), (keys.accessKeys, "hash"), (keys.acts, "stream"),
      (keys.shards, "hash"), (keys.elsewhere, "hash"),
    ]
  }

  /// The keys that somebody must look at, and the type of each.
  private var staying: [(String, String)] {
    let keys = functions.keys
    return [
      (keys.switches, "hash"), (keys.generation, "string"), (keys.indexed, "hash"),
      (keys.shard, "string"),
    ]
  }

  /// The type that a key should have; nil for one that is none of those that commands read.
  private func expectedType(of key: String) -> String? {
    switch key.dropFirst(functions.keys.prefix.count + 1).prefix(while: { $0 != ":" }) {
    case "user", "content", "letter", "generation", "session", "shard": "string"
    case "token", "job", "audiences", "metrics", "latency", "worker", "switches", "alarms",
      "indexed", "totals", "keys", "apps", "shards", "elsewhere":
      "hash"
    case "jobs", "chunks", "trace", "dead", "audit", "finished", "uninstalled", "timeline", "acts",
      "app_changes":
      "stream"
    case "index", "block", "delayed", "workers", "unbound": "zset"
    case "open": "set"
    default: nil
    }
  }

  /// The keys of the counts of this minute and of the one before.
  private func minutes(_ nowMs: Int64) -> [(String, String)] {
    [nowMs / 1_000 - 60, nowMs / 1_000].map {
      (functions.keys.metrics(Minute.name(epochSeconds: $0)), "hash")
    }
  }

  /// Says what it means that a key holds another type, and what to do.
  private func consequence(of finding: Finding) -> String {
    guard let staying = finding.staying else {
      return finding.key.hasPrefix(functions.keys.metrics(""))
        ? ": what is counted in that minute is not shown; look for what writes there"
        : ", and no work goes on that needs it: a worker of this version moves it aside"
    }
    let meaning =
      switch staying {
      case .switches:
        "what was switched off is lost, and nothing can be switched off; a worker that starts sends nothing"
      case .generation: "no device can be installed"
      case .indexed: "jobs to all and to channels wait"
      case .shard: "no worker of a fleet of several shards begins here"
      }
    return ": \(meaning); \(staying.remedy(finding.key))"
  }
}

/// The subject of a command, for the keys that it needs.
package enum KeySubject: Sendable, Equatable {
  /// The records of one user of an app.
  case user(app: String, user: String)
  /// A device's token, and whoever has it.
  case token(app: String, DeviceToken)
  case job(app: String, id: String)
  /// Who belongs to the topics and channels of an app.
  case audiences(app: String)
}
