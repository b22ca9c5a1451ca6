internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

// Whether the lane's Redis is its shard, in a fleet of several.
extension Lane {
  /// Whether the Redis is known to be the lane's shard, and not another one of the fleet.
  var hasShard: Bool { place.isShard }

  /// Waits until the Redis is known to be the lane's shard: nothing is taken from another one of the fleet, nor sent. A
  /// configuration may have two addresses that are one place, or two that were exchanged. A connection to a place that has
  /// another shard's name does not come about; a place without a name gets it here.
  func claimShard() async {
    while !parts.life.isDraining {
      await claim(over: store)
      if hasShard { return }
      await loop.sleep(ms: WorkerLimits.shardLookMs)
    }
  }

  /// Claims a place that has lost its name, over a connection of its own: the lanes' do not come about before it has one.
  func claimAnew() async {
    guard !place.isClaiming, !parts.life.isDraining else { return }
    place.isClaiming = true
    defer { place.isClaiming = false }
    var endpoint = settings.redis
    endpoint.expect(settings.shard, prefix: settings.prefix)
    do throws(TLSError) {
      let connection = try RedisConnection(loop: loop, endpoint: endpoint)
      defer { connection.close() }
      connection.connect()
      await claim(
        over: ShardStore(connection: connection, prefix: settings.prefix, id: settings.shard))
    } catch { parts.context.log.debug("shard: \(error)") }
  }

  private func claim(over store: ShardStore) async {
    let shard = settings.shard
    do throws(RedisError) {
      try await store.connection.waitUntilReady(timeoutMs: WorkerLimits.shardLookMs)
      // At home apps may have been before they were brought elsewhere.
      let others =
        settings.shared.home == nil
        ? [] : parts.context.snapshot.current.elsewhere.named.keys.sorted()
      let answer = try await store.placement.claim(for: shard, unlessOf: others)
      if let sentence = answer.refusal(of: shard) { return note(misplacement: sentence) }
      place = LanePlace(isShard: true, isClaiming: place.isClaiming)
      settings.shared.name?.noteThere()
    } catch {
      guard case .server = error else { return parts.context.log.debug("shard: \(error)") }
      parts.reasons.note(error, during: "looking which shard the Redis is")
      place.misplacement =
        "it is not known whether the Redis is the shard \(shard.name): \(DocumentedUser.worker.explain(error))"
    }
  }

  private func note(misplacement sentence: String) {
    place.misplacement = sentence
    parts.reasons.note(sentence, level: .error)
  }
}
