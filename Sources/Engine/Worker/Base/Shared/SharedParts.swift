/// The parts that the lanes of a process for one shard share: each is one for all of them.
struct SharedParts: Sendable {
  /// The clock of the shard's Redis.
  let clock: FleetClock
  let configuration: ConfigurationStanding
  let localTimes = LocalTimes()
  let idle = IdleLanes()
  let poisonGate = PoisonGate()
  /// One for all lanes of the process, as the memory is.
  var shortage = DescriptorShortage()
  let routes = FleetRoutes()
  let switches = FleetSwitches()
  /// The memory that the process has and may have.
  var memory = ProcessMemory(ControlGroup())
  /// The parts of the fleet's home; nil for the lanes of the home itself.
  var home: HomeParts?

  /// The other shards; nil in a fleet of one.
  var doors: ShardDoors?
  /// Whether the shard has its name; nil in a fleet of one.
  var name: ShardName?

  /// The clock by which tokens are dated, which apps of several shards may share.
  var tokenClock: FleetClock { home?.clock ?? clock }
}

/// The parts of the fleet's home that lanes of another shard need.
struct HomeParts: Sendable {
  let clock: FleetClock
  let rates: any HomeRates
}
