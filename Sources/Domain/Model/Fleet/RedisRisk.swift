/// A setting of Redis that costs work which it has confirmed (docs/reference/guarantees.md: Redis is the source of
/// truth). The raw values are the words of `redis.accepted_risks`, and follow `unsafe_redis|` in the alarm's field.
package enum RedisRisk: String, CaseIterable, Sendable {
  /// `maxmemory-policy` lets Redis delete keys when its memory is full.
  case eviction
  /// Redis deleted keys so a short while ago.
  case evicted
  /// There is no append-only file: a crash takes back what came after the last snapshot.
  case noAppendOnlyFile = "no_append_only_file"
  /// The server is a replica, whose primary's data displaces what is written here.
  case replica
  /// Redis has replicas and goes on without them, so a failover takes back what they did not get.
  case unawaitedReplicas = "unawaited_replicas"
}
