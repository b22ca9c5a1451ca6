import LocalServices

/// The Redis that a row wants.
struct RedisOptions: Sendable {
  /// Whether it keeps an append-only file, synced each second.
  var appendOnly = false
  /// How that is synced: with `everysec` the end of the process can cost what a slow disk has held up.
  var appendSync = "everysec"
  /// A shift of its clocks; nil for those of this machine.
  var clock: ClockShift?
  /// Whether everybody reaches it by a port of its own, which a replica can take over.
  var hasReplica = false
  /// How many sentinels watch it and a replica, by which everybody finds the master; 0 for none. Jobs are then enqueued so that
  /// the replica has them.
  var sentinels = 0
  /// How many replicas the node of a cluster has that serves everything, in place of a Redis alone; nil for no cluster.
  var clusterReplicas: Int?
  /// How many other Redis the fleet has, each a shard in which another app lives.
  var otherShards = 0
  /// Whether the first of them is the fleet's home, in place of the Redis of the load.
  var isHomeElsewhere = false
  /// Whether producers add the jobs of the load in the first of them, where their app does not live.
  var areJobsAstray = false
  /// Whether a master that no replica keeps up with refuses writes, as docs/reference/redis.md has it for Sentinel.
  var refusesAlone = false
  /// Whether a fault proxy stands between the workers and it, and where they look for that.
  var hasProxy = false
  var proxyHost = "127.0.0.1"

  /// Whether jobs are enqueued so that a replica has them.
  var awaitsReplica: Bool { sentinels > 0 || (clusterReplicas ?? 0) > 0 }

  var server: RedisServer.Options {
    var server = RedisServer.Options()
    server.appendOnly = appendOnly
    server.clock = clock
    if appendOnly { server.configuration = ["appendfsync \(appendSync)"] }
    if hasReplica || sentinels > 0 {
      server.tcp = true
      server.configuration += ["repl-diskless-sync-delay 0"]
    }
    if refusesAlone {
      server.configuration += ["min-replicas-to-write 1", "min-replicas-max-lag 10"]
    }
    return server
  }
}
