package import Model
package import Redis

/// The badges that jobs give to installations, each of which a job raises once.
package struct BadgeStore {
  /// An installation that is to get one; borrowed.
  package struct Receiver {
    package enum Request: String, Sendable {
      /// The next badge.
      case give
      /// The badge that would be next; nothing changes.
      case look
      /// The badge that the chunk has given it before.
      case recall
    }

    let network: Network
    let token: UnsafeRawBufferPointer
    let user: UnsafeRawBufferPointer
    let request: Request

    package init(
      network: Network, token: UnsafeRawBufferPointer, user: UnsafeRawBufferPointer,
      request: Request
    ) {
      self.network = network
      self.token = token
      self.user = user
      self.request = request
    }
  }

  let functions: StoreFunctions

  /// Sets the badge of a user's installations, or of one of them; the next job that raises it goes on from there.
  /// - Returns: how many there are.
  package func set(
    _ badge: Int, app: String, user: String, token: DeviceToken? = nil
  ) async throws(RedisError) -> Int {
    var command = functions.call("set_badge", app, user, String(badge))
    if let token {
      command.append(token.network.rawValue)
      command.append(token.text)
    }
    return try await functions.run(command) { reply throws(RedisError) in try decodeCount(reply) }
  }

  /// Gives installations their next badges, or says which a chunk has given them before.
  /// - Parameters:
  ///   - receivers: at most `StoreLimits.badgesMax`; borrowed during the call.
  ///   - note: called with the position of a receiver and its badge; not for a token that is another user's by now, nor for
  ///     one that has been given none.
  /// - Returns: false when the chunk is not the consumer's any more; nothing was given then.
  package func give(
    _ claim: ChunkClaim, consumer: String, to receivers: ArraySlice<Receiver>,
    _ note: @escaping (Int, Int32) -> Void
  ) async throws(RedisError) -> Bool {
    precondition(receivers.count <= StoreLimits.badgesMax, "too many installations at once")
    var command = functions.call(
      "give_badges", consumer, claim.priority.rawValue, claim.entry, claim.app, claim.segment,
      claim.source)
    command.reserve(
      arguments: receivers.count * 4,
      bytes: receivers.reduce(0) { $0 + $1.token.count + $1.user.count + 11 })
    for receiver in receivers {
      command.append(receiver.network.rawValue)
      command.append(receiver.token)
      command.append(receiver.user)
      command.append(receiver.request.rawValue)
    }
    let (first, count) = (receivers.startIndex, receivers.count)
    return try await functions.run(command) { reply throws(RedisError) in
      guard reply.kind == .array else {
        guard reply.string == WorkStanding.stale.rawValue else {
          throw .unexpectedReply("badges were expected")
        }
        return false
      }
      try expectArray(reply, exactly: count)
      for index in 0..<count {
        if let badge = Int32(reply[index].string), badge > 0 { note(first + index, badge) }
      }
      return true
    }
  }
}
