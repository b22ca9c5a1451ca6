package import Redis

/// The functions for registration on the server: workers and commands put them there, for clients that know nothing else of
/// the program.
package struct RegistrationStore {
  /// Tries, when others do the same at the same time.
  private static let triesMax = 3

  let connection: RedisConnection

  /// Sees to it that the server has the functions of this version or of a newer one.
  ///
  /// An older version never replaces a newer one, whatever the order in which they ask and act. The number of a version is part
  /// of its library's name, and a server gives no name of a function to two libraries. So to load one fails while there is any
  /// other, and the one that was seen is deleted by its own name, in one transaction with the loading: when a newer one has
  /// taken its place meanwhile, there is nothing of that name to delete, and the loading fails.
  /// - Returns: whether this call put them there.
  /// - Throws: `.server` when the server refuses: its users' rights do not suffice, or a foreign library has functions of these
  ///   names.
  @discardableResult
  package func provide() async throws(RedisError) -> Bool { try await provide(.current) }

  @discardableResult
  func provide(_ library: RegistrationLibrary) async throws(RedisError) -> Bool {
    var refusal: RedisError?
    for _ in 0..<Self.triesMax {
      let present = try await present()
      if let present, present >= library.number { return false }
      do throws(RedisError) {
        if let present {
          try await replace(RegistrationLibrary(number: present), by: library)
          return true
        }
        _ = try await connection.call(RedisCommand("FUNCTION", "LOAD", library.source))
        return true
      } catch {
        guard case .server(_, let message) = error, message.contains("already exists") else {
          throw error
        }
        // Somebody was faster: look who.
        refusal = error
      }
    }
    throw refusal ?? .unexpectedReply("the functions for registration cannot be loaded")
  }

  /// The number of the library that is there.
  func present() async throws(RedisError) -> Int? {
    let pattern = "\(RegistrationLibrary.namePrefix)*"
    let names = try await connection.call(
      RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", pattern)
    ) { reply in (0..<reply.count).compactMap { RESPValue(reply[$0]).pairs.first?.1 } }
    return names.compactMap { RegistrationLibrary.number(in: $0) }.max()
  }

  /// Without a transaction there would be a moment without the functions. So nothing is done where the rights do not suffice
  /// for one: that is asked first, since commands that follow a refused MULTI are carried out at once.
  func replace(
    _ old: RegistrationLibrary, by new: RegistrationLibrary
  ) async throws(RedisError) {
    let probe = PipelineResult()
    connection.send(RedisCommand("MULTI")) { probe.note($0) }
    do throws(RedisError) {
      _ = try await connection.call(RedisCommand("DISCARD"))
    } catch { throw probe.failure ?? error }
    // All in one turn: what the connection is given by others comes before or behind.
    let queued = PipelineResult()
    connection.send(RedisCommand("MULTI")) { queued.note($0) }
    connection.send(RedisCommand("FUNCTION", "DELETE", old.name)) { queued.note($0) }
    connection.send(RedisCommand("FUNCTION", "LOAD", new.source)) { queued.note($0) }
    let answers = try await connection.call(RedisCommand("EXEC"))
    if let failure = queued.failure { throw failure }
    // That the old one was gone already is no failure.
    if case .error(let error)? = answers.array?.last { throw error }
  }
}
