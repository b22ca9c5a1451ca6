internal import Model
internal import PushpoolConfiguration
package import Redis

/// The apps that stand in Redis. They belong to the fleet, in whichever shard their work is.
package struct AppRecordStore {
  /// Whether an app must be there before it is put.
  package enum Mode: String, Sendable {
    /// The app must not be there.
    case add
    /// The app must be there.
    case set
    /// Either will do.
    case put
  }

  /// The result of putting an app.
  package enum Answer: String, Sendable, Equatable {
    case added = "ADDED"
    case replaced = "REPLACED"
    case exists = "EXISTS"
    case missing = "MISSING"
    /// Somebody has changed it meanwhile.
    case changed = "CHANGED"
    /// `ConfigurationLimits.redisAppsMax` are there.
    case full = "FULL"
  }

  /// The result of removing an app.
  package enum Removal: String, Sendable, Equatable {
    case removed = "REMOVED"
    case missing = "MISSING"
    /// Somebody has changed it meanwhile.
    case changed = "CHANGED"
  }

  let functions: StoreFunctions

  /// The key that they stand in.
  package var key: String { functions.keys.apps }

  /// Puts an app.
  /// - Parameters:
  ///   - value: of `AppRecord.value`.
  ///   - revision: that the app must have; nil for any.
  package func put(
    _ id: String, value: [UInt8], _ mode: Mode, revision: String? = nil
  ) async throws(RedisError) -> Answer {
    var command = functions.call("put_app", id)
    command.append(value)
    command.append(mode.rawValue)
    command.append(revision ?? "")
    command.append(ConfigurationLimits.redisAppsMax)
    return try await functions.run(command) { reply throws(RedisError) in try decodeWord(reply) }
  }

  /// Removes an app.
  /// - Parameter revision: that it must have; nil for any.
  package func remove(
    _ id: String, revision: String? = nil
  ) async throws(RedisError) -> Removal {
    try await functions.run(functions.call("remove_app", id, revision ?? "")) {
      reply throws(RedisError) in try decodeWord(reply)
    }
  }

  // MARK: Reading, which needs no functions

  /// The number of apps.
  package func count() async throws(RedisError) -> Int {
    try await functions.connection.call(
      RedisCommand("HLEN", functions.keys.apps), decode: decodeCount)
  }

  /// The value of an app; nil when there is none.
  package func find(_ id: String) async throws(RedisError) -> [UInt8]? {
    try await functions.connection.call(RedisCommand("HGET", functions.keys.apps, id)) {
      $0.isNull ? nil : Array($0.bytes)
    }
  }

  /// Whether there is such an app.
  package func has(_ id: String) async throws(RedisError) -> Bool {
    try await functions.connection.call(
      RedisCommand("HEXISTS", functions.keys.apps, id), decode: decodeInteger) == 1
  }

  /// The apps that are there, of some.
  package func present(among ids: [String]) async throws(RedisError) -> Set<String> {
    guard ids.count <= StoreLimits.appsPage else {
      return Set(try await self.ids()).intersection(ids)
    }
    var there: Set<String> = []
    for id in ids where try await has(id) { there.insert(id) }
    return there
  }

  /// The values of some apps, in their order; nil for those that are not there.
  package func find(_ ids: [String]) async throws(RedisError) -> [[UInt8]?] {
    guard !ids.isEmpty else { return [] }
    var command = RedisCommand("HMGET", functions.keys.apps)
    for id in ids { command.append(id) }
    return try await functions.connection.call(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: ids.count)
      return (0..<ids.count).map { reply[$0].isNull ? nil : Array(reply[$0].bytes) }
    }
  }

  /// A page of the apps, in no order.
  package struct Page: Sendable {
    /// An app may come up twice. What was there throughout comes up.
    package let values: [(id: String, value: [UInt8])]
    /// Where the next page begins; nil at the end.
    package let cursor: String?
  }

  /// Reads a page.
  /// - Parameter cursor: of the page before; nil for the first.
  package func page(after cursor: String? = nil) async throws(RedisError) -> Page {
    let command = RedisCommand(
      "HSCAN", functions.keys.apps, cursor ?? "0", "COUNT", String(StoreLimits.appsPage))
    return try await functions.connection.call(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: 2)
      let fields = reply[1]
      guard fields.kind == .array, fields.count.isMultiple(of: 2) else {
        throw .unexpectedReply("HSCAN has no fields")
      }
      let next = reply[0].string
      return Page(
        values: stride(from: 0, to: fields.count, by: 2).map {
          (id: fields[$0].string, value: Array(fields[$0 + 1].bytes))
        },
        cursor: next == "0" ? nil : next)
    }
  }

  /// The names of all apps, in no order.
  /// - Throws: also when there are more than anybody adds but by hand.
  package func ids() async throws(RedisError) -> [String] {
    let count = try await count()
    guard count <= ConfigurationLimits.redisAppsMax else {
      throw .unexpectedReply(
        "\(key) has \(count) apps, and must have at most \(ConfigurationLimits.redisAppsMax)")
    }
    let names = try await functions.connection.call(RedisCommand("HKEYS", functions.keys.apps))
    return names.array?.compactMap(\.string) ?? []
  }

  // MARK: Changes

  /// The last change that there was; nil when there was none.
  package func lastChange() async throws(RedisError) -> String? {
    let command = RedisCommand("XREVRANGE", functions.keys.appChanges, "+", "-", "COUNT", "1")
    return try await functions.connection.call(command) { reply throws(RedisError) in
      guard reply.kind == .array, reply.count > 0 else { return nil }
      try expectArray(reply[0], atLeast: 1)
      return try decodeEntry(reply[0][0])
    }
  }

  /// The changes since one that was read.
  /// - Parameter change: the last that is known; nil for none.
  package func changes(since change: String?) async throws(RedisError) -> AppChanges {
    let command = RedisCommand(
      "XRANGE", functions.keys.appChanges, change ?? "-", "+", "COUNT",
      // The one that is known, and one that tells whether there are more.
      String(StoreLimits.appChangesAtOnce + 2))
    return try await functions.connection.call(command) { reply throws(RedisError) in
      guard reply.kind == .array else { throw .unexpectedReply("XRANGE is no list") }
      var entries: [(entry: String, app: String)] = []
      for index in 0..<reply.count {
        try expectArray(reply[index], exactly: 2)
        let fields = reply[index][1]
        let app = fields.kind == .array && fields.count >= 2 ? fields[1].string : ""
        entries.append((try decodeEntry(reply[index][0]), app))
      }
      return AppChanges(entries, since: change, countMax: StoreLimits.appChangesAtOnce)
    }
  }
}

/// The changes of apps that a reader has to take.
package enum AppChanges: Sendable, Equatable {
  /// The apps as they are to be read anew, each once, and the last change among those.
  /// - Parameter hasMore: whether there are others behind it.
  case these([String], upTo: String, hasMore: Bool)
  case nothing
  /// The reader's knowledge and what there is have nothing in common: all is to be read anew.
  case unknown

  /// - Parameter entries: from the change that the reader knows on.
  init(_ entries: [(entry: String, app: String)], since change: String?, countMax: Int) {
    var entries = entries[...]
    if let change {
      // The known change is there as long as nothing behind it was trimmed, and as this is the Redis that it was read from.
      guard entries.first?.entry == change else {
        self = .unknown
        return
      }
      entries = entries.dropFirst()
    }
    let taken = entries.prefix(countMax)
    guard let last = taken.last else {
      self = .nothing
      return
    }
    // Of a reader that has seen none there may have been more.
    guard change != nil else {
      self = .unknown
      return
    }
    var (apps, seen): ([String], Set<String>) = ([], [])
    for (_, app) in taken where seen.insert(app).inserted { apps.append(app) }
    self = .these(apps, upTo: last.entry, hasMore: entries.count > taken.count)
  }
}
