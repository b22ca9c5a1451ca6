package import Redis

/// The values that producers fill in for their users: a HASH of theirs, user → JSON object.
package struct VariableStore {
  let connection: RedisConnection

  /// Reads what a HASH holds of some users; one HMGET, nothing copied.
  /// - Parameters:
  ///   - users: at most `StoreLimits.resolveUsersMax`; borrowed during the call.
  ///   - note: called with the position of a user and the JSON, nil where there is none; borrowed during that call.
  /// - Returns: false when the key is no HASH.
  package func read(
    _ key: String, of users: [UnsafeRawBufferPointer],
    _ note: @escaping (Int, UnsafeRawBufferPointer?) -> Void
  ) async throws(RedisError) -> Bool {
    precondition(users.count <= StoreLimits.resolveUsersMax, "too many users at once")
    var command = RedisCommand(
      reservingBytes: users.reduce(0) { $0 + $1.count + 12 } + key.utf8.count + 64)
    command.append("HMGET")
    command.append(key)
    for user in users { command.append(user) }
    let count = users.count
    do throws(RedisError) {
      try await connection.call(command) { reply throws(RedisError) in
        try expectArray(reply, exactly: count)
        for index in 0..<count {
          note(index, reply[index].isNull ? nil : reply[index].bytes)
        }
      }
    } catch {
      guard case .server("WRONGTYPE", _) = error else { throw error }
      return false
    }
    return true
  }
}
