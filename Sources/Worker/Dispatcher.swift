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
  private struct Tag {
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
  private let policy = RetryPolicy()
  private let settings: DispatcherSettings
  private let log: Logger
  private var runs: [ChunkRun?] = Array(repeating: nil, count: WorkerLimits.runsMax)
  private(set) var destinations: [Destination?]
  private var guards: [MassDeathGuard]
  private(set) var latency = LatencyHistogram()
  private(set) var accepted = 0
  /// Recipients whose bindings are being read.
  var resolving = 0
  /// From the loop's monotonic clock to the wall clock, corrected once a second.
  private var wallOffsetMs: Int64
  /// Reasons already logged, so that a campaign does not fill the log.
  private var loggedReasons: [String: Int] = [:]

  /// Called when a destination is first used, to have its credential looked after.
  var onNewDestination: ((Int) -> Void)?
  /// Pushes by run slot whose bindings were read too long ago.
  private var staleBindings: [Int: [Int]] = [:]

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
  private var wallMs: Int64 { Int64(loop.nowNs / 1_000_000) + wallOffsetMs }
}

// MARK: - Sending

extension Dispatcher: DestinationOwner {
  func destination(
    _ destination: Destination, submit raw: UInt64, with credential: Credential,
    on connection: ClientConnection
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
      connection.submit(head, path: path, body: body, tag: raw)
    }
    guard wasTaken else {
      destination.enqueue(raw, rank: run.claim.priority.rank)
      return .blocked
    }
    run.inFlight += 1
    return .sent
  }

  /// Whether a push is still to be sent; decides it when it is not.
  private func isSendable(_ run: ChunkRun, _ index: Int) -> Bool {
    switch run.standing {
    case .active: break
    case .cancelled, .stale:
      run.decide(index, .skipped)
      return false
    case .paused:
      run.decideLater(index, delayMs: 0, attempt: Int(run.pushes[index].attempt) - 1)
      return false
    }
    if let expiresAtMs = run.material.expiresAtMs, wallMs >= expiresAtMs {
      run.decide(index, .expired)
      return false
    }
    let ageNs = loop.nowNs &- run.pushes[index].boundNs
    guard ageNs <= WorkerLimits.bindingAgeMsMax &* 1_000_000 else {
      // The token may be somebody else's by now (R3): ask again before sending.
      staleBindings[run.slot, default: []].append(index)
      run.signal.raise()
      return false
    }
    return true
  }

  /// Pushes of a run whose bindings must be read again before they are sent.
  func takeStaleBindings(_ run: ChunkRun) -> [Int] {
    staleBindings.removeValue(forKey: run.slot) ?? []
  }

  /// Puts them back when reading failed.
  func keepStaleBindings(_ run: ChunkRun, _ pushes: [Int]) {
    staleBindings[run.slot, default: []].append(contentsOf: pushes)
  }

  private func decideUnsendable(
    _ run: ChunkRun, _ index: Int, _ rendering: JobMaterial.Rendering
  ) {
    if case .refused(let field) = rendering {
      logOnce("\(run.claim.app): job \(run.claim.job) cannot be sent: \(field)")
      run.decide(index, .rejected)
    } else {
      run.decide(index, .skipped)
    }
  }

  private func withPath<Result>(
    _ prefix: UnsafeRawBufferPointer, _ token: UnsafeRawBufferPointer,
    _ use: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard !prefix.isEmpty else { return use(prefix) }
    let count = prefix.count + token.count
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { path in
      path.copyMemory(from: prefix)
      UnsafeMutableRawBufferPointer(rebasing: path[prefix.count...]).copyMemory(from: token)
      return use(UnsafeRawBufferPointer(path))
    }
  }

  // MARK: Answers

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

  private func decide(
    _ run: ChunkRun, _ tag: Tag, _ destination: Destination, _ outcome: Outcome, elapsedNs: UInt64
  ) {
    switch outcome {
    case .accepted:
      accepted += 1
      run.decide(tag.push, .accepted)
    case .invalidToken where run.material.content.dryRun,
      .doubtfulToken where run.material.content.dryRun:
      // A rehearsal changes nothing.
      run.decide(tag.push, .rejected)
    case .invalidToken(let reason, let sinceMs):
      run.decideInvalid(tag.push, reason: reason, sinceMs: sinceMs)
    case .doubtfulToken(let reason): decideDoubtful(run, tag.push, destination, reason)
    case .rejected(let reason):
      logOnce("\(run.claim.app): \(destination.provider.network.rawValue) rejects: \(reason)")
      run.decide(tag.push, .rejected)
    case .retry(let afterMs, _): retry(run, tag.push, afterMs: afterMs)
    case .authRefused(let reason):
      logOnce("\(run.claim.app): \(destination.provider.network.rawValue) refuses: \(reason)")
      destination.credentialRefused(reason: reason, sentNsAgo: elapsedNs)
      resend(run, tag, destination)
    case .unknown: decideUnknown(run, tag.push)
    case .notSent: resend(run, tag, destination)
    }
  }

  private func decideDoubtful(
    _ run: ChunkRun, _ index: Int, _ destination: Destination, _ reason: String
  ) {
    guards[Int(destination.number)].noteRefusal()
    if !mayUninstallDoubtful(destination.number) {
      logOnce(
        "\(run.claim.app): too many device tokens are refused as \(reason), so none is uninstalled; "
          + "check the environment and the topic")
    }
    run.decideDoubtful(index, reason: reason)
  }

  /// Whether so few tokens of a destination are refused as bad that those may be dead.
  func mayUninstallDoubtful(_ destination: Int16) -> Bool {
    !guards[Int(destination)].isTripped
  }

  /// Sends a push again that was certainly not processed: no attempt is burned.
  private func resend(_ run: ChunkRun, _ tag: Tag, _ destination: Destination) {
    guard run.noteResend(tag.push) <= WorkerLimits.resendsMax else {
      return run.decideLater(
        tag.push, delayMs: WorkerLimits.refusedDelayMs,
        attempt: Int(run.pushes[tag.push].attempt) - 1)
    }
    destination.enqueue(tag.raw, rank: run.claim.priority.rank)
  }

  private func decideUnknown(_ run: ChunkRun, _ index: Int) {
    logOnce("\(run.claim.app): connection lost or time ran out before an answer")
    guard run.material.content.unknownPolicy == .resend else { return run.decide(index, .failed) }
    retry(run, index, afterMs: nil)
  }

  private func retry(_ run: ChunkRun, _ index: Int, afterMs: UInt64?) {
    let attempt = Int(run.pushes[index].attempt)
    guard run.material.allowsRetry else { return run.decide(index, .expired) }
    // One draw per run and attempt, so that a chunk's retries are one residual and not hundreds.
    let decision = policy.decide(
      attempt: attempt, retryAfterMs: afterMs, nowMs: wallMs,
      expiresAtMs: run.material.expiresAtMs, random: run.jitter(attempt: attempt))
    switch decision {
    case .retry(let delayMs): run.decideLater(index, delayMs: delayMs, attempt: attempt)
    case .expired: run.decide(index, .expired)
    case .giveUp: run.decide(index, .failed)
    }
  }

  // MARK: Destinations

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
