internal import Model
package import Redis

/// The browsers that have shown a key, by a digest of the name that each got. Redis ends a session by its own clock.
package struct BrowserSessionStore {
  let functions: StoreFunctions

  /// Begins a session.
  /// - Parameters:
  ///   - secret: the name that the browser alone has.
  ///   - seconds: how long it lasts.
  package func begin(
    _ secret: String, keyID: String, createdAtMs: Int64, seconds: Int
  ) async throws(RedisError) {
    let value: JSONObject = ["key": .string(keyID), "created_at": .integer(createdAtMs)]
    var command = RedisCommand("SET", place(secret), JSONValue.object(value).text(), "EX")
    command.append(seconds)
    _ = try await functions.connection.call(command) { $0.string }
  }

  /// Returns the id of the key that was shown; nil when there is no such session.
  package func keyID(of secret: String) async throws(RedisError) -> String? {
    try await functions.connection.call(RedisCommand("GET", place(secret))) { reply in
      guard !reply.isNull else { return nil }
      return (try? JSONParser().parse(Array(reply.bytes)))?.objectValue?["key"]?.stringValue
    }
  }

  /// Ends a session; nothing where it has ended.
  package func end(_ secret: String) async throws(RedisError) {
    _ = try await functions.connection.call(
      RedisCommand("DEL", place(secret)), decode: decodeInteger)
  }

  private func place(_ secret: String) -> String {
    functions.keys.session(ContentDigest.sha256(secret))
  }
}
