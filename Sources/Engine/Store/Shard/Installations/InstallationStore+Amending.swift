package import Model
package import Redis

/// The outcome of a change to an installation.
package enum AmendAnswer: Sendable, Equatable {
  /// The installation as it is now.
  case amended(StoredInstallation)
  /// The token is bound to nobody by now.
  case absent
  /// Somebody has changed the installation since it was read, or another user has the token. Nothing was changed.
  case changed
}

extension InstallationStore {
  /// Makes an installation another one of the same token and user, if it still is as it was read
  /// (Functions/Installations/amending.lua). Repeating it answers `.changed`.
  /// - Parameters:
  ///   - read: the record that the change was made from.
  ///   - amended: all that it is to have afterwards. Without channels it leaves those that it was in. The object id and
  ///     `createdAtMs` stay. Without `updatedAtMs` it is renewed now.
  package func amend(
    _ read: StoredInstallation, to amended: Installation
  ) async throws(RedisError) -> AmendAnswer {
    precondition(
      amended.token == read.installation.token && amended.app == read.installation.app,
      "an amendment is of the same token")
    var command = functions.call("amend")
    InstallationSections.of(read, to: amended).append(to: &command)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 1)
      switch reply[0].string {
      case "absent": return .absent
      case "changed": return .changed
      case "amended": break
      default: throw .unexpectedReply("\"\(reply[0].string)\" is no answer to amend")
      }
      try expectArray(reply, exactly: 5)
      guard let generation = UInt64(reply[1].string) else {
        throw .unexpectedReply("amend answers no generation")
      }
      var stored = read
      stored.generation = generation
      stored.installation = amended
      stored.installation.leavesChannels = false
      stored.installation.objectID = reply[2].string
      stored.installation.createdAtMs = reply[3].integer.map { StoredNumber.instantMs(Int64($0)) }
      stored.installation.updatedAtMs = reply[4].integer.map { StoredNumber.instantMs(Int64($0)) }
      return .amended(stored)
    }
  }
}
