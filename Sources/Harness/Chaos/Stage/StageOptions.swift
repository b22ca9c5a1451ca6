import LocalServices
import Model

/// The options of a stage that a row wants.
struct StageOptions: Sendable {
  /// Installations of the crowd, and how many of them each user has.
  var users = ChaosLimits.usersDefault
  var devicesPerUser = 1
  var network = Network.apns
  /// The size of a group of installations of which one can be told to answer never (`Crowd.silentPrefix`).
  var silentEvery: Int?
  /// Whether each job raises the badges of its installations.
  var raisesBadges = false
  /// The channel that all of the crowd's installations are in.
  var channel: String?
  /// In how many made-up time zones they are; 0 for none.
  var timeZones = 0
  var workers = 3
  var lanes = ChaosLimits.lanes
  var connections = ChaosLimits.connections
  var streams = ChaosLimits.streams
  var leaseSeconds = ChaosLimits.leaseSeconds
  var unroutedSeconds = ChaosLimits.unroutedSeconds
  var requestTimeoutSeconds = ChaosLimits.requestTimeoutSeconds
  var answerMs = ChaosLimits.answerMs
  /// Apps beside the first.
  var otherApps: [String] = []
  /// The hosts of apps' push networks, where they are not `localhost`.
  var hosts: [String: String] = [:]
  /// Where workers look for Redis's proxy.
  var redisHost = "127.0.0.1"
  /// The apps that the lesser configuration lacks, which some workers may be started with.
  var lesserLack: [String] = []
  /// Whether every other user of the first app has an installation for development. The lesser configuration has no
  /// credentials for it.
  var hasDevelopment = false
  /// Whether the networks know a second signing key under the id of the first, `SharedConfiguration.secondKeyFile`.
  var hasSecondKey = false
  /// Whether Redis keeps an append-only file, synced each second.
  var appendOnly = false
  /// How that is synced: with `everysec` the end of the process can cost what a slow disk has held up.
  var appendSync = "everysec"
  /// A shift of Redis's clocks; nil for those of this machine.
  var redisClock: ClockShift?
  /// Whether everybody reaches Redis by a port of its own, which a replica can take over.
  var hasReplica = false
  /// How many sentinels watch Redis and a replica, by which everybody finds the master; 0 for none. Jobs are then enqueued so that
  /// the replica has them.
  var sentinels = 0
  /// Whether a master that no replica keeps up with refuses writes, as docs/reference/redis.md has it for Sentinel.
  var refusesAlone = false
  /// Whether a fault proxy stands between the workers and Redis, or them and the networks.
  var hasRedisProxy = false
  var hasProviderProxy = false
  /// Whether the other apps go to the networks without it.
  var sparesOtherApps = false

  /// The script of a provider in health.
  var health: String { script() }

  /// A script with further members, such as `"goaway_after": 50`.
  func script(_ members: String = "") -> String {
    let more = members.isEmpty ? "" : ", \(members)"
    return #"{"provider_token_interval_seconds": 0, "delay_ms": \#(answerMs)\#(more)}"#
  }

  /// The Redis that it wants.
  var server: RedisServer.Options {
    var server = RedisServer.Options()
    server.appendOnly = appendOnly
    server.clock = redisClock
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

  /// The most requests that one worker can have in flight.
  var inFlightMax: Int { lanes * connections * streams }

  /// The most pushes that one worker can have in hand: in flight, or done and not told to Redis.
  var inHandMax: Int { lanes * ChaosLimits.inHandPerLane }
}
