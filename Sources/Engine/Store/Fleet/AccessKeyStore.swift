package import Redis

/// The keys of the HTTP API. Plain commands alone: no function is needed.
package struct AccessKeyStore {
  /// The result of adding a key.
  package enum Answer: Sendable, Equatable {
    case added
    /// Another key has the id.
    case taken
    /// `StoreLimits.accessKeysMax` are there.
    case full
  }

  let functions: StoreFunctions

  /// Adds a key. Two callers at once may add one key more than there should be.
  package func add(_ key: AccessKey) async throws(RedisError) -> Answer {
    let place = functions.keys.accessKeys
    let count = try await functions.connection.call(
      RedisCommand("HLEN", place), decode: decodeCount)
    guard count < StoreLimits.accessKeysMax else { return .full }
    var command = RedisCommand("HSETNX", place, key.id)
    command.append(key.value)
    let added = try await functions.connection.call(command, decode: decodeInteger)
    return added == 1 ? .added : .taken
  }

  /// Returns the key of an id; nil when there is none, or when the value is no key's.
  package func find(_ id: String) async throws(RedisError) -> AccessKey? {
    try await functions.connection.call(
      RedisCommand("HGET", functions.keys.accessKeys, id)
    ) { reply in
      reply.isNull ? nil : AccessKey(id: id, value: Array(reply.bytes))
    }
  }

  /// Returns the keys, in no order. Of more than there may be it reads some.
  package func list() async throws(RedisError) -> [AccessKey] {
    let place = functions.keys.accessKeys
    let connection = functions.connection
    let count = try await connection.call(RedisCommand("HLEN", place), decode: decodeCount)
    guard count > 0 else { return [] }
    let fields: RESPValue?
    if count <= StoreLimits.accessKeysMax {
      fields = try await connection.call(RedisCommand("HGETALL", place))
    } else {
      let page = RedisCommand("HSCAN", place, "0", "COUNT", String(StoreLimits.accessKeysMax))
      fields = try await connection.call(page).array?.last
    }
    return (fields?.pairs ?? []).compactMap { AccessKey(id: $0, value: Array($1.utf8)) }
  }

  /// Removes a key. - Returns: false when it was not there.
  package func remove(_ id: String) async throws(RedisError) -> Bool {
    try await functions.connection.call(
      RedisCommand("HDEL", functions.keys.accessKeys, id), decode: decodeInteger) > 0
  }
}
