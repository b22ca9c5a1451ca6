internal import Logging
internal import Providers
internal import Reactor

/// The parts of a lane that send, each with those that it needs. Bound to the loop.
final class SendingParts {
  // Destinations.
  let rates: RateTable
  let destinations: DestinationTable
  let congestion: RateCongestion
  let descriptors: DescriptorRelief
  let watch: DestinationWatch

  // Onto a connection.
  let room: SendingRoom
  let gate: SendingGate
  let rescheduling: Rescheduling
  let router: PushRouter
  let composer: PushComposer
  let submitter: Submitter

  // Answers.
  let latency = LatencyHistogram()
  let decider: PushDecider
  let dispatcher: Dispatcher

  /// - Parameter fleet: where other workers can send to.
  init(
    loop: EventLoop, runs: RunTable, directory: ProviderDirectory, fleet: FleetRoutes,
    settings: SendingSettings, clock: FleetClock, reasons: ReasonLog, log: Logger
  ) {
    let clock = LaneClock(loop: loop, fleet: clock)
    rates = RateTable(loop: loop)
    destinations = DestinationTable(
      loop: loop, runs: runs, directory: directory, settings: settings.connections, rates: rates,
      reasons: reasons, log: log)
    congestion = RateCongestion(
      runs: runs, destinations: destinations, rates: rates, directory: directory)
    descriptors = DescriptorRelief(
      loop: loop, destinations: destinations, worker: settings.worker,
      connectionsKept: settings.connectionsKept, shortage: settings.shortage, reasons: reasons)
    watch = DestinationWatch(destinations: destinations, clock: clock)

    room = SendingRoom(
      loop: loop, runs: runs, destinations: destinations, congestion: congestion)
    gate = SendingGate(clock: clock, runs: runs, destinations: destinations, log: log)
    rescheduling = Rescheduling(
      clock: clock, runs: runs, destinations: destinations, gate: gate, reasons: reasons)
    let isolation = Isolation(
      loop: loop, runs: runs, rescheduling: rescheduling, reasons: reasons)
    router = PushRouter(
      destinations: destinations, gate: gate, rescheduling: rescheduling, isolation: isolation,
      reasons: reasons)
    composer = PushComposer(
      clock: clock, destinations: destinations, gate: gate, router: router, reasons: reasons)
    submitter = Submitter(runs: runs, room: room, router: router, composer: composer)

    let doubtful = DoubtfulTokens(
      destinations: destinations, fleet: fleet, router: router, rescheduling: rescheduling,
      reasons: reasons)
    decider = PushDecider(
      clock: clock, router: router, rescheduling: rescheduling, isolation: isolation,
      doubtful: doubtful, reasons: reasons)
    dispatcher = Dispatcher(
      runs: runs, destinations: destinations, room: room, rescheduling: rescheduling,
      isolation: isolation, submitter: submitter,
      judge: AnswerJudge(clock: clock, latency: latency, reasons: reasons, log: log),
      decider: decider)
    destinations.owner = dispatcher
  }

  /// Sends to what this directory has from now on.
  func use(_ directory: ProviderDirectory) {
    destinations.use(directory)
    congestion.use(directory)
  }

  /// Closes the connections, without waiting for answers.
  func close() { destinations.close() }
}

/// How a lane sends, from the configuration.
struct SendingSettings {
  /// The process, as its alarms name it.
  var worker: String
  var connections: ConnectionSettings
  /// Connections to all networks beyond which idle ones are closed.
  var connectionsKept = Int.max
  /// Shared by the lanes of a process.
  var shortage: DescriptorShortage
}
