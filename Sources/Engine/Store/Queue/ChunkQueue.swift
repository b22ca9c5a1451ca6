internal import Model
package import Redis

/// The work units: leased with `claim`, kept with `heartbeat` and `settle`, given up with `handBack`.
package struct ChunkQueue {
  let functions: StoreFunctions

  /// Leases chunks that nobody has, high priority first. At most `max` come back, none when there is no work.
  package func claim(consumer: String, max: Int) async throws(RedisError) -> [ChunkClaim] {
    try await claimSome(consumer: consumer, max: max).claims
  }

  /// As `claim`. What is paused, cancelled or switched off is cleared away on the way, so much in one call:
  /// `isMore` says that the call ended there, and that another may find work behind it.
  package func claimSome(
    consumer: String, max: Int
  ) async throws(RedisError) -> (claims: [ChunkClaim], isMore: Bool) {
    var command = functions.call("claim", consumer)
    command.append(max)
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

  /// Reports outcomes, renews the lease, and finishes the chunk when the settlement is final.
  ///
  /// Safe to repeat as it is when the reply was lost, and only so: repeat the same settlement before making
  /// another. A repeated one that ran already is recognised by its bitmap, which brings nothing new, or, when it
  /// was final, answered with `.stale`.
  package func settle(
    _ claim: ChunkClaim, _ settlement: Settlement, consumer: String
  ) async throws(RedisError) -> SettleAnswer {
    let command = settleCommand(claim, settlement, consumer: consumer)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 5)
      let places = (min(6, reply.count)..<reply.count).map { reply[$0].string }
      let skipped = "skipped|"
      return SettleAnswer(
        standing: try decodeWord(reply[0]), uninstalled: try decodeCount(reply[1]),
        kept: try decodeCount(reply[2]), spared: try decodeCount(reply[3]),
        lost: try decodeCount(reply[4]),
        verdicts: reply.count > 5 ? reply[5].bytes.compactMap { TokenVerdict(rawValue: $0) } : [],
        suspicions: places.filter { !$0.hasPrefix(skipped) },
        skipped: places.filter { $0.hasPrefix(skipped) }.map { String($0.dropFirst(skipped.count)) }
      )
    }
  }

  private func settleCommand(
    _ claim: ChunkClaim, _ settlement: Settlement, consumer: String
  ) -> RedisCommand {
    var command = functions.call(
      "settle", consumer, claim.priority.rawValue, claim.entry, claim.app, claim.job,
      claim.segment, claim.source, claim.lines.rawValue, settlement.isFinal ? "1" : "0")
    command.append(settlement.done.bytes)
    command.append(settlement.told?.bytes ?? Array("-".utf8))
    command.append(settlement.totalDelta)
    command.append(settlement.noInstallations)
    command.append(settlement.retries)
    appendCounts(settlement, to: &command)
    appendLines(settlement, to: &command)
    appendTallies(settlement.tallies, to: &command)
    appendRelabellings(settlement.relabellings, to: &command)
    for invalid in settlement.invalidations {
      command.append(invalid.network.rawValue)
      command.append(invalid.environment.rawValue)
      command.append(invalid.token)
      command.append(invalid.user)
      command.append(String(invalid.generation))
      command.append(invalid.sinceMs.map { String($0) } ?? "")
      command.append(invalid.reason)
    }
    return command
  }

  /// Residuals, and as one more what stays with the chunk.
  private func appendLines(_ settlement: Settlement, to command: inout RedisCommand) {
    command.append(
      settlement.residuals.count + settlement.unrouted.count
        + (settlement.stillOpen.isEmpty ? 0 : 1))
    for residual in settlement.residuals {
      command.append(Int(clamping: residual.delayMs))
      command.append(residual.lines)
    }
    for unrouted in settlement.unrouted {
      command.append("\(unrouted.place)|\(settlement.unroutedMs)")
      command.append(unrouted.lines)
    }
    guard !settlement.stillOpen.isEmpty else { return }
    command.append("-")
    command.append(settlement.stillOpen)
  }

  private func appendTallies(_ tallies: [Settlement.Tally], to command: inout RedisCommand) {
    command.append(tallies.count)
    for tally in tallies {
      command.append(tally.network.rawValue)
      command.append(tally.environment.rawValue)
      command.append(tally.answers)
      command.append(tally.misfits)
    }
  }

  private func appendRelabellings(
    _ relabellings: [Settlement.Relabelling], to command: inout RedisCommand
  ) {
    command.append(relabellings.count)
    for relabelling in relabellings {
      command.append(relabelling.network.rawValue)
      command.append(relabelling.token)
      command.append(relabelling.user)
      command.append(String(relabelling.generation))
      command.append(relabelling.environment.rawValue)
    }
  }

  private func appendCounts(_ settlement: Settlement, to command: inout RedisCommand) {
    var flat: [(network: String, outcome: String, count: Int)] = []
    if settlement.skippedUnread > 0 { flat.append(("none", "skipped", settlement.skippedUnread)) }
    for (network, outcomes) in settlement.counts {
      for (name, count) in outcomes.fields
      where count > 0 && name != "retries" && name != "no_installations" {
        flat.append((network.rawValue, name, count))
      }
    }
    command.append(flat.count)
    for (network, outcome, count) in flat {
      command.append(network)
      command.append(outcome)
      command.append(count)
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
