/// The parts that the lanes of a process share: each is one for all of them.
struct SharedParts: Sendable {
  let clock: FleetClock
  let configuration: ConfigurationStanding
  let localTimes = LocalTimes()
  let idle = IdleLanes()
  let poisonGate = PoisonGate()
  let shortage = DescriptorShortage()
  let routes = FleetRoutes()
  let switches = FleetSwitches()
  /// The memory that the process has and may have.
  var memory = ProcessMemory(ControlGroup())
}
