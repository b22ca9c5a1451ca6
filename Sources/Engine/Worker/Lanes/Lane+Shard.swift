internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

// Whether the lane's Redis is its shard, in a fleet of several.
extension Lane {
  /// Waits until the Redis is known to be the lane's shard: nothing is taken from another one of the fleet, nor sent. A
  /// configuration may have two addresses that are one place, or two that were exchanged. A connection to a place that has
  /// another shard's name does not come about; a place without a name gets it here.
  func claimShard() async {
    guard !isClaiming else { return }
    isClaiming = true
    defer { isClaiming = false }
    while !parts.life.isDraining {
      await look(for: settings.shard)
      if hasShard { return }
      await loop.sleep(ms: WorkerLimits.shardLookMs)
    }
  }

  private func look(for shard: ShardID) async {
    do throws(RedisError) {
      try await store.connection.waitUntilReady(timeoutMs: WorkerLimits.shardLookMs)
      // At home apps may have been before they were brought elsewhere.
      let others =
        settings.shared.home == nil
        ? [] : parts.context.snapshot.current.elsewhere.named.keys.sorted()
      let claim = try await store.placement.claim(for: shard, unlessOf: others)
      misplacement = claim.refusal(of: shard)
      if let misplacement { parts.reasons.note(misplacement, level: .error) }
      hasShard = misplacement == nil
    } catch {
      guard case .server = error else { return parts.context.log.debug("shard: \(error)") }
      parts.reasons.note(error, during: "looking which shard the Redis is")
      guard !hasShard else { return }
      misplacement =
        "it is not known whether the Redis is the shard \(shard.name): \(DocumentedUser.worker.explain(error))"
    }
  }
}
