package import Model
package import Redis

/// The producers' streams, as others use them: nobody but the workers is to take anything from them.
package struct StreamStore {
  let functions: StoreFunctions

  /// The state of a priority's stream that is worth telling.
  package enum Finding: Sendable, Equatable {
    /// How many jobs were deleted since the last look, before a worker took them.
    case lost(Int)
    /// The stream takes no more, since it has an entry with the highest id; so many are left in it.
    case exhausted(left: Int)
    /// The stream was exhausted and empty, and takes jobs again.
    case renewed
  }

  /// Looks at all of them, raises alarms, and makes an exhausted one anew that is empty. Costs Redis some 30 µs.
  package func inspect() async throws(RedisError) -> [(priority: Priority, finding: Finding)] {
    try await functions.run(functions.call("inspect_streams")) { reply throws(RedisError) in
      var found: [(priority: Priority, finding: Finding)] = []
      for index in 0..<reply.count {
        let row = reply[index]
        try expectArray(row, exactly: 3)
        let count = try decodeCount(row[2])
        let finding: Finding =
          switch row[1].string {
          case "LOST": .lost(count)
          case "RENEWED": .renewed
          default: .exhausted(left: count)
          }
        found.append((try decodeWord(row[0]), finding))
      }
      return found
    }
  }
}
