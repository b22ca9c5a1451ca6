package import Model
package import Redis

/// The work units: leased with `claim`, kept with `heartbeat` and `settle`, given up with `handBack`.
package struct ChunkQueue {
  let functions: StoreFunctions

  /// Leases chunks that nobody has, high priority first. At most `max` come back, none when there is no work.
  package func claim(consumer: String, max: Int) async throws(RedisError) -> [ChunkClaim] {
    try await claimSome(consumer: consumer, max: max).claims
  }

  /// Leases chunks as `claim` does, of no lower priority than `lowest`. Chunks that are paused, cancelled or switched
  /// off are cleared away on the way, only so many in one call. `isMore` says that the call ended there, and that
  /// another may find work behind it.
  package func claimSome(
    consumer: String, max: Int, downTo lowest: Priority = .low
  ) async throws(RedisError) -> (claims: [ChunkClaim], isMore: Bool) {
    var command = functions.call("claim", consumer)
    command.append(max)
    command.append(lowest.rawValue)
    return try await functions.run(command, decode: ChunkClaim.listAndMore)
  }

  /// Leases chunks of workers that were silent for `leaseMs`. To be called periodically: each call looks at a
  /// part of the leases and goes on where the last one, of any worker, ended. After a silence of its own, a
  /// consumer can get a chunk back that it still has.
  package func reclaim(
    consumer: String, leaseMs: UInt64, max: Int
  ) async throws(RedisError) -> [ChunkClaim] {
    var command = functions.call("reclaim", consumer)
    command.append(Int(clamping: leaseMs))
    command.append(max)
    return try await functions.run(command, decode: ChunkClaim.list)
  }

  /// The chunks that the consumer owns and does not know of, since the answer to its claim was lost: as many as `max`, and
  /// their leases begin anew. Without it they would wait for their leases to run out.
  /// - Parameter inHand: all that the consumer knows of.
  package func claimUnanswered(
    consumer: String, max: Int, inHand: [ChunkClaim]
  ) async throws(RedisError) -> [ChunkClaim] {
    var command = functions.call("claim_unanswered", consumer)
    command.append(max)
    for claim in inHand {
      command.append(claim.priority.rawValue)
      command.append(claim.entry)
    }
    return try await functions.run(command, decode: ChunkClaim.list)
  }

  /// Reports outcomes, renews the lease, and finishes the chunk when the settlement is final.
  ///
  /// Safe to repeat as it is when the reply was lost, and only so: repeat the same settlement before making
  /// another. A repeated one that ran already is recognised by its bitmap, which brings nothing new, or, when it
  /// was final, answered with `.stale`.
  package func settle(
    _ claim: ChunkClaim, _ settlement: Settlement, consumer: String
  ) async throws(RedisError) -> SettleAnswer {
    var command = functions.call("settle")
    settlement.sections(of: claim, consumer: consumer).append(to: &command)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 5)
      let places = (min(6, reply.count)..<reply.count).map { reply[$0].string }
      let skipped = "skipped|"
      return SettleAnswer(
        standing: try decodeWord(reply[0]), uninstalled: try decodeCount(reply[1]),
        kept: try decodeCount(reply[2]), spared: try decodeCount(reply[3]),
        lost: try decodeCount(reply[4]),
        fates: reply.count > 5 ? reply[5].bytes.compactMap { TokenFate(rawValue: $0) } : [],
        massDeaths: places.filter { !$0.hasPrefix(skipped) },
        skipped: places.filter { $0.hasPrefix(skipped) }.map { String($0.dropFirst(skipped.count)) }
      )
    }
  }

  /// Renews leases, and learns of each chunk whether to go on.
  package func heartbeat(
    _ claims: [ChunkClaim], consumer: String
  ) async throws(RedisError) -> [WorkStanding] {
    var command = functions.call("heartbeat", consumer, WorkKind.chunks.rawValue)
    for claim in claims {
      command.append(claim.priority.rawValue)
      command.append(claim.entry)
      command.append(claim.app)
      command.append(claim.job)
    }
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: claims.count)
      var standings: [WorkStanding] = []
      for index in 0..<reply.count { standings.append(try decodeWord(reply[index])) }
      return standings
    }
  }

  /// Gives chunks up with the progress that was settled; others get them after the delay (a longer one when much
  /// is delayed), a paused job keeps them until it is resumed. No crash is counted.
  /// - Returns: how many were still the consumer's.
  @discardableResult
  package func handBack(
    _ claims: [ChunkClaim], consumer: String, delayMs: UInt64 = 0
  ) async throws(RedisError) -> Int {
    var command = functions.call("hand_back", consumer)
    command.append(Int(clamping: delayMs))
    for claim in claims {
      command.append(claim.priority.rawValue)
      command.append(claim.entry)
    }
    return try await functions.run(command, decode: decodeCount)
  }

  /// Turns a chunk that no worker could carry into a dead letter; its open recipients count as failed.
  /// - Parameters:
  ///   - reason: a code, as `content_missing`.
  ///   - message: a sentence for the operator.
  /// - Returns: false when it belongs to another worker now.
  @discardableResult
  package func bury(
    _ claim: ChunkClaim, reason: String, message: String, consumer: String
  ) async throws(RedisError) -> Bool {
    let command = functions.call(
      "bury", consumer, claim.priority.rawValue, claim.entry, reason, message)
    return try await functions.run(command) { $0.string == WorkStanding.ok.rawValue }
  }

  /// Puts delayed chunks whose time has come in line, and moves those whose turn it is to their streams: at most
  /// `max` of each in one call. While a consumer comes again at least twice a second, it alone does that.
  /// - Parameter consumer: who asks; nil to do it whoever else does.
  /// - Returns: how many were taken, and in how many ms to come again (nil when none waits).
  package func promote(
    max: Int, as consumer: String? = nil
  ) async throws(RedisError) -> (taken: Int, nextDueMs: UInt64?) {
    var command = functions.call("promote")
    command.append(max)
    command.append(consumer ?? "")
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 2)
      return (try decodeCount(reply[0]), UInt64(exactly: try decodeDelayMs(reply[1])))
    }
  }
}
