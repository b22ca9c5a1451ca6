package import Redis

/// The function libraries in Redis: each version of the program brings one of its own, and works with that alone.
package struct LibraryStore {
  /// Names are asked for in one call; a server has no more of them at once than versions that ran within a day.
  private static let sweptMax = 64

  let functions: StoreFunctions

  /// Says that this version's library is in use, and deletes those that no worker has used for a day. Whoever comes
  /// back with such a version, or shares the server under another prefix, loads its library again by itself.
  /// - Returns: the libraries that were deleted.
  @discardableResult
  package func sweep() async throws(RedisError) -> [String] {
    let own = StoreLibrary.library.name
    let pattern = "\(StoreLibrary.libraryName)_*"
    let found = try await functions.connection.call(
      RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", pattern)
    ) { reply in (0..<reply.count).compactMap { RESPValue(reply[$0]).pairs.first?.1 } }
    var command = functions.call("unused_libraries", own)
    for name in found.filter({ $0 != own }).prefix(Self.sweptMax) { command.append(name) }
    let unused = try await functions.run(command) { reply in
      (0..<reply.count).map { reply[$0].string }
    }
    for name in unused {
      _ = try await functions.connection.call(RedisCommand("FUNCTION", "DELETE", name))
    }
    return unused
  }
}
