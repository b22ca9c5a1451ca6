internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// The path of a push on one lane: from a run's table into a destination's queue, onto a connection,
/// and from the answer to a decision. No tasks, no awaiting, and nothing allocated per push; loop-bound.
final class Dispatcher {
  let loop: EventLoop
  let directory: ProviderDirectory
  /// Where other workers can send to.
  let fleet: FleetRoutes
  let policy = RetryPolicy()
  let settings: DispatcherSettings
  let log: Logger
  let runs: RunTable
  private(set) var destinations: [Destination?]
  private(set) var latency = LatencyHistogram()
  var accepted = 0
  /// Recipients whose bindings are being read.
  private var resolving = 0
  let reasons: ReasonLog
  private let clock: FleetClock

  /// What is switched off.
  private(set) var switches = Switches()
  /// The rates that its destinations keep to, by name, and those that are a whole app's by app.
  var leases: [String: RateLease] = [:]
  var appLeases: [String: RateLease] = [:]
  /// Called with a rate's name and how much of it is to be leased.
  var onLease: ((String, Int) -> Void)?

  /// Called when a destination is first used, to have its credential looked after.
  var onNewDestination: ((Int) -> Void)?

  init(
    loop: EventLoop, runs: RunTable, directory: ProviderDirectory, fleet: FleetRoutes,
    settings: DispatcherSettings, clock: FleetClock, reasons: ReasonLog,
    log: Logger
  ) {
    self.loop = loop
    self.runs = runs
    self.directory = directory
    self.fleet = fleet
    self.settings = settings
    self.log = log
    self.clock = clock
    self.reasons = reasons
    destinations = Array(repeating: nil, count: directory.entries.count)
  }

  // MARK: Room

  /// Without what waits for a rate, which is bounded by itself.
  private var queued: Int {
    destinations.reduce(0) { $0 + ($1.map { $0.isStarved ? 0 : $0.queued } ?? 0) }
  }

  /// Whether more recipients should be resolved now.
  var hasRoom: Bool { queued + resolving < WorkerLimits.queuedPushesMax }

  var inFlight: Int { destinations.reduce(0) { $0 + ($1?.inFlight ?? 0) } }
  var connections: Int { destinations.reduce(0) { $0 + ($1?.readyConnections ?? 0) } }

  /// Recipients that are claimed and not resolved, and wait for no rate.
  var unresolved: Int {
    var sum = 0
    runs.forEach { run in
      if run.wantsResolving, !isCongested(run) { sum += run.lines.count - run.cursor }
    }
    return sum
  }

  func takeLatency() -> [(network: Network, boundMs: UInt64, count: Int)] { latency.takeAll() }

  // MARK: Queueing

  /// This worker has no credentials for a push: it is for one that has, and skipped if there is none.
  private func leaveToOthers(_ run: ChunkRun, push index: Int) {
    if isExpired(run) { return run.decide(index, .expired, because: .expired) }
    let push = run.pushes[index]
    reasons.note("\(run.claim.app) has no credentials for \(push.network.rawValue) on this worker")
    run.decideUnrouted(index, for: push.environment, attempt: Int(push.attempt) - 1)
  }

  func destination(_ number: Int16) -> Destination {
    if let known = destinations[Int(number)] { return known }
    let entry = directory.entries[Int(number)]
    let destination = Destination(
      number: number, app: entry.app, provider: entry.provider,
      limits: entry.limits.map { lease(of: $0, app: entry.app, for: number) },
      settings: settings.clientSettings(entry.provider.destination), loop: loop, owner: self)
    destinations[Int(number)] = destination
    onNewDestination?(Int(number))
    return destination
  }

  /// Heeds what is switched off from now on, also for what is in hand.
  func heed(_ switches: Switches) {
    self.switches = switches
    withdrawStopped()
  }

  // MARK: Housekeeping

  func checkReachable() {
    for destination in destinations { destination?.checkReachable() }
  }

  func close() {
    for destination in destinations { destination?.close() }
    for lease in leases.values { lease.close() }
  }

  /// Epoch milliseconds by Redis's clock, from the loop's: read for each push, so without a system call.
  var wallMs: Int64 { clock.at(loop.nowNs) }
}

// MARK: - What resolvers hand over

extension Dispatcher: PushSink {
  func noteResolving(_ count: Int) { resolving += count }

  func noteResolved(_ count: Int) { resolving -= count }

  func routes(_ run: ChunkRun) -> Routes {
    Routes(
      app: run.claim.app, environments: run.material.content.environments, directory: directory)
  }

  func enqueue(_ run: ChunkRun, push index: Int) {
    let number = run.pushes[index].destination
    guard number >= 0 else { return leaveToOthers(run, push: index) }
    let destination = destination(number)
    if let delayMs = destination.parkDelayMs {
      return putAside(run, index, delayMs: delayMs, because: .parked)
    }
    if let delayMs = heldMs(run, index) {
      return putAside(run, index, delayMs: delayMs, because: .switchedOff)
    }
    if let delayMs = overflowMs(run, destination) {
      return putAside(run, index, delayMs: delayMs, because: .rateLimited)
    }
    requeue(run, index, destination)
  }

  func wake() {
    for destination in destinations { destination?.wake() }
  }
}

// MARK: - What its destinations ask and tell

extension Dispatcher: DestinationOwner {
  func destination(
    _ destination: Destination, submit raw: UInt64, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission {
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return .withdrawn }
    if let hindrance = hindrance(run, tag.push) {
      withdraw(run, tag.push, because: hindrance)
      return .withdrawn
    }
    let rendering = run.material.rendering(
      for: destination.number, provider: destination.provider, nowMs: wallMs)
    guard case .message(let message) = rendering else {
      decideUnsendable(run, tag.push, rendering)
      return .withdrawn
    }
    let head = message.head(authority: destination.authority, credential: credential)
    let push = run.pushes[tag.push]
    let body = RequestBody(
      before: message.bodyBefore,
      own: message.isBodyPerToken ? push.token : UnsafeRawBufferPointer(start: nil, count: 0),
      after: message.bodyAfter)
    let wasTaken = withPath(message.pathPrefix, push.token) { path in
      taker.submit(head, path: path, body: body, tag: raw)
    }
    guard wasTaken else {
      requeue(run, tag.push, destination)
      return .blocked
    }
    run.noteSubmitted(tag.push)
    return .sent
  }

  func destination(_ destination: Destination, finished raw: UInt64, with answer: RequestAnswer) {
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return }
    run.noteReturned()
    let suspectNs = run.suspects.sinceNs(tag.push)
    if answer.isSuspect { noteSuspect(run, tag.push, destination) }
    switch answer.disposition {
    case .notSent:
      run.beginAnswer(TracedAnswer(answer, .notSent))
      resend(run, tag, destination, answer)
      run.endAnswer(tag.push)
    // Whether a connection's only request was processed before the connection was closed, nobody knows.
    case .malformed where answer.isSuspect && run.material.content.unknownPolicy != .resend:
      run.beginAnswer(TracedAnswer(answer, .unknown))
      decideUnknown(run, tag.push)
      run.endAnswer(tag.push)
    case .malformed:
      run.beginAnswer(TracedAnswer(answer, .rejected(reason: Self.malformedReason)))
      decideMalformed(
        run, tag.push, destination, suspectNs: suspectNs, elapsedNs: answer.elapsedNs)
      run.endAnswer(tag.push)
    case .unknown:
      if !answer.isSuspect || !destination.isAnswering {
        _ = destination.noteTrouble(
          elapsedNs: answer.elapsedNs, retryAfterMs: nil, reason: "no answer")
      }
      run.beginAnswer(TracedAnswer(answer, .unknown))
      decideUnknown(run, tag.push)
      run.endAnswer(tag.push)
    case .answered:
      latency.add(destination.network, elapsedNs: answer.elapsedNs)
      run.noteAnswer(tag.push)
      if !destination.quarantine.isEmpty { destination.noteAnswer(toJob: run.claim.job) }
      if answer.status == 200 {
        accepted += 1
        destination.noteGood(elapsedNs: answer.elapsedNs)
        if run.isNoteworthy(tag.push) { run.beginAnswer(TracedAnswer(answer, .accepted)) }
        return run.decide(tag.push, .accepted)
      }
      decide(run, tag, destination, answer)
    }
  }

  func destination(_ destination: Destination, parks tags: [UInt64], forMs delayMs: UInt64) {
    // The breaker has said why by itself.
    if destination.breaker.state == .closed && !destination.lacksDescriptors {
      reasons.note(
        "\(destination.app): \(destination.provider.network.rawValue) cannot be reached, does not answer "
          + "or refuses the credential: its pushes wait")
    }
    for raw in tags {
      let tag = PushTag(raw)
      guard let run = runs[tag] else { continue }
      putAside(run, tag.push, delayMs: delayMs, because: .parked)
    }
  }

  func destination(_ destination: Destination, connectionEnded end: ConnectionEnd) {
    guard end != .closed else { return }
    log.info(
      "connection ended",
      metadata: [
        "app": "\(destination.app)", "network": "\(destination.provider.network.rawValue)",
        "reason": "\(end.logText)",
      ])
  }

  func destinationRanLow(_ destination: Destination) {
    guard hasRoom else { return }
    runs.forEach { if $0.wantsResolving { $0.signal.raise() } }
  }
}
