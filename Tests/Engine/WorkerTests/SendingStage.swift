import Logging
import Model
import Providers
import Reactor
import Testing

@testable import Store
@testable import Worker

/// What sends of a lane, without a thread: what its loop would bring, the test brings.
struct SendingStage {
  let loop: EventLoop
  let lines = LogLines()
  let runs = RunTable()
  let sending: SendingParts
  /// The only entry of the directory, or that of production.
  private let entry: ProviderDirectory.Entry
  private let clock = FleetClock()
  let requests = TestRequests()

  init(
    _ environments: PushEnvironment..., limits: [RateLimit] = [],
    credentials: any CredentialSource = CertificateCredentialSource(.file("test.p12"))
  ) throws {
    loop = try EventLoop(name: "test")
    let directory =
      environments.count > 1
      ? try TestDirectory.of(.production, .development, limits: limits, credentials: credentials)
      : try TestDirectory.of(.production, limits: limits, credentials: credentials)
    entry = directory.entries[0]
    sending = SendingParts(loop, runs, directory, lines.logger, clock)
  }

  /// Epoch milliseconds, as those who send count them.
  var wallMs: Int64 { clock.at(loop.nowNs) }

  /// The only destination, or that of production, ready to send.
  var destination: Destination {
    let destination = sending.destinations.destination(0)
    destination.use(TestDirectory.credential)
    return destination
  }

  /// Another that is in trouble, and is probed by what is sent next.
  func destinationToProbe() throws -> Destination {
    var breaker = Breaker()
    while breaker.state == .closed {
      _ = breaker.noteTrouble(nowNs: 1, elapsedNs: 0, retryAfterMs: nil)
    }
    try #require(breaker.openUntilNs < loop.nowNs, "the machine has only just started")
    let destination = Destination(
      entry: entry,
      settings: SendingParts.connections.clientSettings(entry.provider.destination),
      breaker: breaker, loop: loop,
      journal: DestinationJournal(
        of: entry, reasons: ReasonLog(log: lines.logger), log: lines.logger),
      owner: sending.dispatcher)
    destination.use(TestDirectory.credential)
    return destination
  }

  /// How many probes more may be under way there.
  func probeRoom(of destination: Destination) -> Int {
    var breaker = destination.health.breaker
    return breaker.allowance(nowNs: loop.nowNs)
  }

  /// A run of one user with so many devices, whose pushes are not queued yet.
  func run(
    devices: Int = 1, expiry: Expiry? = nil,
    environments: Set<PushEnvironment> = Set(PushEnvironment.allCases), event: AppEvent? = nil,
    slot: Int = 0, job: String = "sale"
  ) throws -> PushRun {
    let run = try Claims.run(
      ["a"],
      content: JobContent(
        notification: event == nil ? Notification(title: "Hi") : nil, event: event,
        expiry: expiry, environments: environments), slot: slot, job: job)
    runs.add(run)
    _ = run.takeBatch(max: 1)
    for push in run.resolve(0, devices: devices) {
      run.confirmBinding(push, generation: 1, atNs: loop.nowNs)
    }
    return run
  }

  /// Queues the pushes of a run.
  func enqueue(_ run: PushRun) {
    for push in run.pushes.indices { sending.router.enqueue(run, push: push) }
  }

  /// Queues the pushes of a run there.
  func enqueue(_ run: PushRun, to destination: Destination) {
    for push in run.pushes.indices { sending.router.queue(run, push, destination) }
  }

  /// What is off from now on.
  func switchOff(_ switches: KillSwitch...) {
    var reading = SwitchReading()
    for killSwitch in switches { reading.add(field: killSwitch.field, value: []) }
    sending.gate.apply(Switches(reading))
  }
}

extension SendingParts {
  static let connections = ConnectionSettings(
    connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000)

  /// Those that send for `shop`, without a thread.
  convenience init(
    _ loop: EventLoop, _ runs: RunTable, _ directory: ProviderDirectory, _ log: Logger,
    _ clock: FleetClock = FleetClock()
  ) {
    self.init(
      loop: loop, runs: runs, directory: directory,
      fleet: FleetRoutes(),
      settings: SendingSettings(
        worker: "test", connections: Self.connections, shortage: DescriptorShortage()),
      clock: clock, reasons: ReasonLog(log: log), log: log)
  }
}
