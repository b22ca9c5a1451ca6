import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Store
import TestSupport

/// The apps of Redis, as a command would put them there.
struct AppShelf: Sendable {
  private let server: RedisServer
  private let key: APNsSigningKey
  private let keyText: String
  private let keys: SealingKeys

  /// - Parameters:
  ///   - key: APNs's, which all apps have.
  ///   - keys: seal what is put.
  init(_ server: RedisServer, key: APNsSigningKey, keys: SealingKeys) throws {
    self.server = server
    self.key = key
    self.keys = keys
    keyText = TextFile.read(key.file, bytesMax: 4_096) ?? ""
  }

  /// Puts an app with a key at APNs.
  /// - Parameters:
  ///   - members: further members of the app's JSON.
  ///   - other: seals in place of the shelf's keys.
  func put(_ id: String, _ members: String = "", keys other: SealingKeys? = nil) async throws {
    let value = try value(of: id, members, keys: other)
    try await withStore { store in
      _ = try await store.apps.put(id, value: value, .put)
    }
  }

  /// The record of such an app.
  func value(
    of id: String, _ members: String = "", keys other: SealingKeys? = nil
  ) throws -> [UInt8] {
    var object = try JSONParser().parse("{\(members)}").objectValue ?? [:]
    object["apns"] = [
      "production": [
        "key": .string(keyText), "key_id": .string(key.keyID), "team_id": .string(key.teamID),
        "topic": .string("com.example.\(id)"),
      ]
    ]
    return try AppRecord(
      AppDocument(.object(object), id: id), id: id, instead: nil, keys: other ?? keys, nowMs: 1,
      by: "test"
    ).value()
  }

  func remove(_ id: String) async throws {
    try await withStore { store in _ = try await store.apps.remove(id) }
  }

  /// Writes a value by hand.
  func write(_ id: String, _ value: String) async throws {
    try await withStore { store in
      _ = try await store.apps.put(id, value: Array(value.utf8), .put)
    }
  }

  /// Gives an app the record of another one.
  func copy(_ id: String, to other: String) async throws {
    try await withStore { store in
      let value = try await store.apps.find(id) ?? []
      _ = try await store.apps.put(other, value: value, .put)
    }
  }

  /// The shared routes.
  func routes() async throws -> [String: String] {
    try await withStore { store in
      try await ShardStore(connection: store.connection, prefix: ReloadFolder.prefix).routes
        .redisApps()
    }
  }

  func command(_ words: String...) async throws {
    try await withStore { store in
      var command = RedisCommand()
      for word in words { command.append(word) }
      _ = try await store.connection.call(command)
    }
  }

  /// How often Redis was given a command.
  func calls(of name: String) async throws -> Int {
    try await withStore { store in
      let figures = try await store.connection.call(RedisCommand("INFO", "commandstats"))
      let start = "cmdstat_\(name):calls="
      let line = figures.string?.split(whereSeparator: \.isNewline).first { $0.hasPrefix(start) }
      return line.flatMap { Int($0.dropFirst(start.count).prefix { $0 != "," }) } ?? 0
    }
  }

  private func withStore<Value: Sendable>(
    _ body: @Sendable (FleetStore) async throws -> Value
  ) async throws -> Value {
    try await TestLane.run { lane in
      let connection = try await lane.connect(server.endpoint, library: StoreLibrary.library)
      defer { connection.close() }
      return try await body(FleetStore(connection: connection, prefix: ReloadFolder.prefix))
    }
  }
}
