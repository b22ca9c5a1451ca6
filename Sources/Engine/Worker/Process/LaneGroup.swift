internal import Logging
internal import Model
internal import PushpoolConfiguration
internal import Reactor
internal import Redis
internal import Store
internal import Synchronization

/// The lanes of a process for one shard. Nothing of a shard stops another's: each group has a housekeeper, a clock and
/// watches of its own, and tells its shard by itself that the process lives.
final class LaneGroup: Sendable {
  let shard: ShardID
  /// The section of the configuration that says where the shard is.
  private let section: String
  /// One at least; the first is the housekeeper.
  let lanes: [Lane]
  /// The clock of the shard's Redis.
  let clock: FleetClock
  /// The knowledge of where the other workers of the shard can send to.
  let routes: FleetRoutes
  /// Whether a telling is under way that waits for the shard's Redis.
  private let isTelling = Mutex(false)

  /// The parts that are the same for all groups of a process.
  struct Process {
    /// The process, as it beats.
    let name: String
    let worker: WorkerConfiguration
    /// Lanes of a group, and groups.
    let lanes: Int
    let groups: Int
    let configuration: ConfigurationStanding
    let memory: ProcessMemory
    let shortage = DescriptorShortage()
    /// The shards of a fleet of several; nil in a fleet of one.
    let doors: ShardDoors?
    let log: Logger
  }

  /// - Parameters:
  ///   - number: of the group in the process; 0 for the home's.
  ///   - home: the group of the fleet's home; nil for that itself.
  init(
    _ shard: ShardConfiguration, number: Int, of process: Process, home: LaneGroup?,
    clock: FleetClock, snapshot: WorkerSnapshot
  ) throws {
    self.shard = shard.id
    section = shard.redis.section
    self.clock = clock
    let isOnly = process.groups == 1
    let shardName = isOnly ? nil : ShardName(of: shard.id)
    var endpoint = try RedisEndpoint(shard.redis)
    endpoint.expect(shard.id, prefix: shard.redis.prefix) { shardName?.noteMissing() }
    var common = SharedParts(
      clock: clock, configuration: process.configuration, memory: process.memory)
    routes = common.routes
    common.shortage = process.shortage
    common.doors = process.doors
    common.name = shardName
    let worker = process.worker
    lanes = try (0..<process.lanes).map { lane in
      // Each consumer has a name of its own, whatever shards two addresses turn out to be.
      var redis = endpoint
      let name = isOnly ? "\(lane)" : "\(shard.id.name)-\(lane)"
      redis.clientName = "pushpool-\(process.name)-\(name)"
      var log = process.log
      log[metadataKey: "lane"] = "\(name)"
      var shared = common
      // Home's lanes share the asking.
      shared.home = home.map {
        HomeParts(clock: $0.clock, rates: $0.lanes[lane % $0.lanes.count])
      }
      return try Lane(
        loop: try EventLoop(name: isOnly ? "lane-\(lane)" : "lane-\(number).\(lane)"),
        settings: LaneSettings(
          worker: process.name, consumer: "\(process.name)-\(number * process.lanes + lane)",
          shard: shard.id,
          prefix: shard.redis.prefix, redis: redis, acceptedRisks: shard.redis.acceptedRisks,
          leaseMs: UInt64(worker.leaseSeconds) * 1_000,
          drainMs: UInt64(worker.drainSeconds) * 1_000,
          connectionsMax: worker.connectionsPerLane, streamsMax: worker.streamsPerConnection,
          connectionsKept: DescriptorLimit.connectionsKept(
            lanes: process.lanes * process.groups),
          requestTimeoutMs: UInt64(worker.requestTimeoutSeconds) * 1_000, number: lane,
          sendsDirectly: true, shared: shared),
        snapshot: snapshot, log: log)
    }
    process.doors?.open(shard.id, by: lanes[0])
  }

  /// Why the process is not to begin with this shard's Redis; nil when it may, or when Redis is not there at once.
  func refusal() async -> UnsafeRedis? {
    guard let sentence = await lanes[0].refusal() else { return nil }
    return UnsafeRedis(
      sentence: shard.isOnly ? sentence : "shard \(shard.name): \(sentence)", section: section)
  }

  /// Adds up what the lanes say of themselves.
  /// - Parameter lag: takes how long each took to answer.
  func statistics(_ lag: inout DurationHistogram) async -> LaneStatistics {
    var sum = LaneStatistics()
    for lane in lanes {
      let told = await lane.statistics(askedNs: EventLoop.clockNs())
      lag.add(told.lagNs)
      sum += told
    }
    if !shard.isOnly { sum.trouble = sum.trouble.map { "shard \(shard.name): \($0)" } }
    return sum
  }

  /// Has the housekeeper tell the shard something.
  /// - Parameter waits: whether the caller waits for its end. Else it goes on, and nothing is told while the last telling
  ///   waits: a Redis that hangs holds up no other shard.
  func tell(waits: Bool, _ body: @escaping @Sendable (Lane) async -> Void) async {
    let lane = lanes[0]
    if waits { return await body(lane) }
    let begins = isTelling.withLock { isTelling in
      defer { isTelling = true }
      return !isTelling
    }
    guard begins else { return }
    Task {
      await body(lane)
      isTelling.withLock { $0 = false }
    }
  }
}
