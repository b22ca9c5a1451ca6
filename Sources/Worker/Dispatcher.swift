internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// The path of a push on one lane: from a run's table into a destination's queue, onto a connection,
/// and from the answer to a decision. No tasks, no awaiting, and nothing allocated per push; loop-bound.
final class Dispatcher {
  /// What goes into a request's tag: the run's slot and the push's number.
  struct Tag {
    let slot: Int
    let push: Int

    init(slot: Int, push: Int) {
      self.slot = slot
      self.push = push
    }

    init(_ raw: UInt64) {
      slot = Int(truncatingIfNeeded: raw >> 32)
      push = Int(truncatingIfNeeded: raw & 0xffff_ffff)
    }

    var raw: UInt64 { UInt64(slot) << 32 | UInt64(push) }
  }

  let loop: EventLoop
  let directory: ProviderDirectory
  let policy = RetryPolicy()
  private let settings: DispatcherSettings
  private let log: Logger
  private var runs: [ChunkRun?] = Array(repeating: nil, count: WorkerLimits.runsMax)
  private(set) var destinations: [Destination?]
  var guards: [MassDeathGuard]
  private(set) var latency = LatencyHistogram()
  var accepted = 0
  /// Recipients whose bindings are being read.
  var resolving = 0
  /// From the loop's monotonic clock to the wall clock, corrected once a second.
  private var wallOffsetMs: Int64
  /// Reasons already logged, so that a campaign does not fill the log.
  private var loggedReasons: [String: Int] = [:]

  /// Called when a destination is first used, to have its credential looked after.
  var onNewDestination: ((Int) -> Void)?
  /// Pushes by run slot whose bindings were read too long ago.
  var staleBindings: [Int: [Int]] = [:]

  init(
    loop: EventLoop, directory: ProviderDirectory, settings: DispatcherSettings, log: Logger
  ) {
    self.loop = loop
    self.directory = directory
    self.settings = settings
    self.log = log
    wallOffsetMs = WallClock.system.nowMs() - Int64(loop.nowNs / 1_000_000)
    destinations = Array(repeating: nil, count: directory.entries.count)
    guards = Array(repeating: MassDeathGuard(), count: directory.entries.count)
  }

  // MARK: Runs

  var runCount: Int { runs.count { $0 != nil } }
  var activeRuns: [ChunkRun] { runs.compactMap { $0 } }
  var freeSlot: Int? { runs.firstIndex { $0 == nil } }
  var freeSlots: Int { runs.count { $0 == nil } }

  /// Whether a run carries this chunk already.
  func isCarrying(_ claim: ChunkClaim) -> Bool {
    runs.contains { $0?.claim.entry == claim.entry && $0?.claim.priority == claim.priority }
  }

  func run(_ slot: Int) -> ChunkRun? { runs[slot] }
  func add(_ run: ChunkRun) { runs[run.slot] = run }
  func remove(_ run: ChunkRun) {
    runs[run.slot] = nil
    staleBindings[run.slot] = nil
  }

  // MARK: Room

  private var queued: Int { destinations.reduce(0) { $0 + ($1?.queued ?? 0) } }

  /// Whether more recipients should be resolved now.
  var hasRoom: Bool { queued + resolving < WorkerLimits.queuedPushesMax }

  var inFlight: Int { destinations.reduce(0) { $0 + ($1?.inFlight ?? 0) } }
  var connections: Int { destinations.reduce(0) { $0 + ($1?.readyConnections ?? 0) } }

  /// Recipients that are claimed and not resolved.
  var unresolved: Int {
    runs.reduce(0) { $0 + (($1?.wantsResolving ?? false) ? $1!.lines.count - $1!.cursor : 0) }
  }

  func takeLatency() -> [(network: Network, boundMs: UInt64, count: Int)] { latency.takeAll() }

  // MARK: Queueing

  /// The number of the destination of an installation; -1 when the app has no credentials for it.
  func destinationNumber(
    app: String, network: Network, environment: PushEnvironment
  ) -> Int16 {
    directory.position(app: app, network: network, environment: environment).map(Int16.init) ?? -1
  }

  /// Queues a push, or decides it at once when it cannot be sent.
  func enqueue(_ run: ChunkRun, push index: Int) {
    let number = run.pushes[index].destination
    guard number >= 0 else {
      logOnce("\(run.claim.app) has no credentials for \(run.pushes[index].network.rawValue)")
      return run.decide(index, .skipped)
    }
    let destination = destination(number)
    if let delayMs = destination.parkDelayMs {
      return run.decideLater(
        index, delayMs: delayMs, attempt: Int(run.pushes[index].attempt) - 1)
    }
    destination.enqueue(
      Tag(slot: run.slot, push: index).raw, rank: run.claim.priority.rank)
  }

  /// Sends what was queued, at the end of this turn.
  func wake() {
    for destination in destinations { destination?.wake() }
  }

  private func destination(_ number: Int16) -> Destination {
    if let known = destinations[Int(number)] { return known }
    let entry = directory.entries[Int(number)]
    let destination = Destination(
      number: number, app: entry.app, provider: entry.provider,
      settings: settings.clientSettings(entry.provider.destination), loop: loop, owner: self)
    destinations[Int(number)] = destination
    onNewDestination?(Int(number))
    return destination
  }

  // MARK: Housekeeping

  /// Takes the pushes of runs that may not send any more out of the queues.
  func withdrawUnsendable() {
    for destination in destinations {
      destination?.filterQueue { raw in
        let tag = Tag(raw)
        guard let run = runs[tag.slot] else { return false }
        return run.standing == .active || isSendable(run, tag.push)
      }
    }
  }

  func checkReachable() {
    wallOffsetMs = WallClock.system.nowMs() - Int64(loop.nowNs / 1_000_000)
    for destination in destinations { destination?.checkReachable() }
  }

  func close() {
    for destination in destinations { destination?.close() }
  }

  func logOnce(_ reason: String) {
    let seen = loggedReasons[reason, default: 0]
    guard seen > 0 || loggedReasons.count < WorkerLimits.reasonsMax else { return }
    loggedReasons[reason] = seen + 1
    if seen == 0 { log.warning("\(reason)") }
  }

  /// Logs how often each reason came up, and starts again.
  func logReasons() {
    for (reason, count) in loggedReasons where count > 1 {
      log.notice("\(reason)", metadata: ["times": "\(count)"])
    }
    loggedReasons.removeAll(keepingCapacity: true)
  }

  /// Epoch milliseconds, from the loop's clock: read for each push, so without a system call.
  var wallMs: Int64 { Int64(loop.nowNs / 1_000_000) + wallOffsetMs }
}

// MARK: - What its destinations ask and tell

extension Dispatcher: DestinationOwner {
  func destination(
    _ destination: Destination, submit raw: UInt64, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission {
    let tag = Tag(raw)
    guard let run = runs[tag.slot], isSendable(run, tag.push) else { return .withdrawn }
    let rendering = run.material.rendering(
      for: destination.number, provider: destination.provider, nowMs: wallMs)
    guard case .message(let message) = rendering else {
      decideUnsendable(run, tag.push, rendering)
      return .withdrawn
    }
    let head = message.head(
      authority: destination.provider.destination.authority, credential: credential)
    let push = run.pushes[tag.push]
    let body = RequestBody(
      before: message.bodyBefore,
      own: message.isBodyPerToken ? push.token : UnsafeRawBufferPointer(start: nil, count: 0),
      after: message.bodyAfter)
    let wasTaken = withPath(message.pathPrefix, push.token) { path in
      taker.submit(head, path: path, body: body, tag: raw)
    }
    guard wasTaken else {
      destination.enqueue(raw, rank: run.claim.priority.rank)
      return .blocked
    }
    run.inFlight += 1
    return .sent
  }

  func destination(_ destination: Destination, finished raw: UInt64, with answer: RequestAnswer) {
    let tag = Tag(raw)
    guard let run = runs[tag.slot] else { return }
    run.inFlight -= 1
    switch answer.disposition {
    case .notSent: resend(run, tag, destination)
    case .unknown: decideUnknown(run, tag.push)
    case .answered:
      latency.add(destination.provider.network, elapsedNs: answer.elapsedNs)
      guards[Int(destination.number)].noteAnswer(nowNs: loop.nowNs)
      if answer.status == 200 {
        accepted += 1
        return run.decide(tag.push, .accepted)
      }
      let outcome = destination.provider.classify(
        ProviderAnswer(
          status: answer.status, retryAfterSeconds: answer.retryAfterSeconds, body: answer.body))
      decide(run, tag, destination, outcome, elapsedNs: answer.elapsedNs)
    }
  }

  func destination(_ destination: Destination, parks tags: [UInt64], forMs delayMs: UInt64) {
    logOnce(
      "\(destination.app): \(destination.provider.network.rawValue) cannot be reached, does not answer "
        + "or refuses the credential: its pushes wait")
    for raw in tags {
      let tag = Tag(raw)
      guard let run = runs[tag.slot] else { continue }
      run.decideLater(
        tag.push, delayMs: delayMs, attempt: Int(run.pushes[tag.push].attempt) - 1)
    }
  }

  func destination(_ destination: Destination, connectionEnded end: ConnectionEnd) {
    guard end != .closed else { return }
    log.info(
      "connection ended",
      metadata: [
        "app": "\(destination.app)", "network": "\(destination.provider.network.rawValue)",
        "reason": "\(end)",
      ])
  }

  func destinationRanLow(_ destination: Destination) {
    guard hasRoom else { return }
    for run in runs {
      if let run, run.wantsResolving { run.signal.raise() }
    }
  }
}
