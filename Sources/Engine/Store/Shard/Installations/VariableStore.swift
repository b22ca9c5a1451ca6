internal import Model
package import Redis

/// The values that producers fill in for their users: a HASH of theirs, user → JSON object.
package struct VariableStore {
  /// The values that a HASH holds for a user, or why there are none.
  package enum Found {
    case nothing
    /// Borrowed.
    case json(UnsafeRawBufferPointer)
    /// More than `Limits.userVariablesBytesMax`.
    case tooLong
  }

  let functions: StoreFunctions

  /// Reads what a HASH holds of some users, for the lanes.
  /// - Parameters:
  ///   - users: at most `StoreLimits.resolveUsersMax`; borrowed during the call.
  ///   - note: called with the position of a user and what was found.
  ///   - finish: called behind that, with false when the key is no HASH, or may not be read.
  package func resolve(
    _ key: String, of users: [UnsafeRawBufferPointer], _ note: @escaping (Int, Found) -> Void,
    _ finish: @escaping (Result<Bool, RedisError>) -> Void
  ) {
    precondition(users.count <= StoreLimits.resolveUsersMax, "too many users at once")
    var command = functions.call("variables", key)
    command.append(Limits.userVariablesBytesMax)
    command.reserve(arguments: users.count, bytes: users.reduce(0) { $0 + $1.count })
    for user in users { command.append(user) }
    let count = users.count
    functions.connection.sendFunction(command) { result in
      do throws(RedisError) {
        let reply = try result.get()
        try expectArray(reply, exactly: count)
        for index in 0..<count {
          let found = reply[index]
          note(
            index, found.isNull ? .nothing : found.integer == nil ? .json(found.bytes) : .tooLong)
        }
        finish(.success(true))
      } catch {
        // What asking again would not mend must not hold up the users' pushes, and those behind them.
        if case .server = error, !error.isTemporary, !error.isFunctionMissing {
          finish(.success(false))
        } else {
          finish(.failure(error))
        }
      }
    }
  }

  /// Reads what a HASH holds of one user, for a person; needs no functions.
  /// - Returns: nil when there is nothing.
  package func value(_ key: String, of user: String) async throws(RedisError) -> [UInt8]? {
    try await functions.connection.call(RedisCommand("HGET", key, user)) { reply in
      reply.isNull ? nil : Array(reply.bytes)
    }
  }
}
