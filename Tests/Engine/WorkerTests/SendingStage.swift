import Logging
import Model
import Providers
import Reactor
import Testing

@testable import Store
@testable import Worker

/// A dispatcher without a thread: what its loop would bring, the test brings.
struct SendingStage {
  let loop: EventLoop
  let lines = LogLines()
  let runs = RunTable()
  let dispatcher: Dispatcher
  let requests = TestRequests()

  init(
    _ environments: PushEnvironment..., limits: [RateLimit] = [],
    credentials: any CredentialSource = CertificateCredentialSource(file: "test.p12")
  ) throws {
    loop = try EventLoop(name: "test")
    let directory =
      environments.count > 1
      ? try TestDirectory.of(.production, .development, limits: limits, credentials: credentials)
      : try TestDirectory.of(.production, limits: limits, credentials: credentials)
    dispatcher = Dispatcher.of(loop, runs, directory, lines.logger)
  }

  /// The only destination, or that of production, ready to send.
  var destination: Destination {
    let destination = dispatcher.destination(0)
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
    let entry = dispatcher.directory.entries[0]
    let destination = Destination(
      number: 0, entry: entry,
      settings: dispatcher.settings.clientSettings(entry.provider.destination), breaker: breaker,
      loop: loop,
      journal: DestinationJournal(
        of: entry, reasons: ReasonLog(log: lines.logger), log: lines.logger),
      owner: dispatcher)
    destination.use(TestDirectory.credential)
    return destination
  }

  /// How many probes more may be under way there.
  func probeRoom(of destination: Destination) -> Int {
    var breaker = destination.breaker
    return breaker.allowance(nowNs: loop.nowNs)
  }

  /// A run of one user with so many devices, whose pushes are not queued yet.
  func run(
    devices: Int = 1, expiry: Expiry? = nil,
    environments: Set<PushEnvironment> = Set(PushEnvironment.allCases), event: AppEvent? = nil,
    slot: Int = 0, job: String = "sale"
  ) throws -> ChunkRun {
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
  func enqueue(_ run: ChunkRun) {
    for push in run.pushes.indices { dispatcher.enqueue(run, push: push) }
  }

  /// Queues the pushes of a run there.
  func enqueue(_ run: ChunkRun, to destination: Destination) {
    for push in run.pushes.indices { dispatcher.queue(run, push, destination) }
  }

  /// What is off from now on.
  func switchOff(_ switches: KillSwitch...) {
    var reading = SwitchReading()
    for killSwitch in switches { reading.add(field: killSwitch.field, value: []) }
    dispatcher.apply(Switches(reading))
  }
}

extension Dispatcher {
  /// One that sends for `shop`, without a thread.
  static func of(
    _ loop: EventLoop, _ runs: RunTable, _ directory: ProviderDirectory, _ log: Logger
  ) -> Dispatcher {
    Dispatcher(
      loop: loop, runs: runs, directory: directory,
      fleet: FleetRoutes(own: directory.routes(of: ["shop"])),
      settings: DispatcherSettings(
        worker: "test", connectionsMax: 1, streamsMax: 10, requestTimeoutMs: 1_000,
        shortage: DescriptorShortage()), clock: FleetClock(), reasons: ReasonLog(log: log),
      log: log)
  }
}
