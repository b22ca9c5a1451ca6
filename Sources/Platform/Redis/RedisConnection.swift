package import Reactor

/// One connection to Redis that pipelines, and comes back by itself; loop-bound.
///
/// Replies come in the order of the commands. A lost connection fails every pending command and none of them
/// is sent again by itself: what was read on one connection never answers a command of another, and only the
/// caller knows whether repeating is safe. While there is no connection, commands fail at once with
/// `.unavailable` rather than queue: a lane then stops claiming, which is the back-pressure that is wanted.
/// `waitUntilReady` is for those that would rather wait.
///
/// Each socket is a `RedisLink`, and a `RedisLocator` decides where the next one goes.
package final class RedisConnection {
  enum State: Equatable {
    case idle, locating, connecting, greeting, ready, waiting, closed
  }

  package typealias Handler = (Result<RedisReply, RedisError>) -> Void

  package let loop: EventLoop
  package let endpoint: RedisEndpoint
  /// Has the functions, where there are any.
  private let loader: LibraryLoader?
  private let tls: TLSContext?
  private(set) var state = State.idle
  private var locator: RedisLocator
  /// The last one, at its end unless this connection is connecting, greeting or ready.
  private var link: RedisLink?
  /// Ends the wait for the next attempt, or for whoever asks the sentinels, or until they are asked once more.
  private var timer: LoopTimer!
  /// The question where the server is, while that is being asked.
  private var request: SentinelRequest?
  private var losses = LossRecord()
  var readyWaiters: [ReadyWaiter] = []

  /// Called each time the connection can be used.
  package var onReady: (() -> Void)?
  /// Called with the server's clock (epoch ms) on each connecting, before it can be used, and with when that was asked
  /// for and answered, in the loop's time.
  package var onTime: ((_ serverMs: Int64, _ sentNs: UInt64, _ receivedNs: UInt64) -> Void)?
  /// Called with the reason each time it is lost or cannot be made, once per attempt; not on `close`, and not when it is made
  /// anew to be rid of a reply.
  package var onLost: ((RedisError) -> Void)?
  /// The least time that a command's answer is waited for, ms, whatever its caller allows: on a machine that others keep busy.
  package var patienceMs: UInt64 = 0 {
    didSet { link?.patienceMs = patienceMs }
  }
  /// Called with a sentence when the server was found, and those who were or are asked for it do not all agree.
  package var onRemark: ((String) -> Void)?

  /// - Parameters:
  ///   - library: loaded when the server lacks it, on connecting and when a function is missing.
  ///   - needsLibrary: false for a user who may be forbidden to load it: it is loaded only when a function is missing.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, library: FunctionLibrary? = nil,
    needsLibrary: Bool = true
  ) throws(TLSError) {
    self.loop = loop
    self.endpoint = endpoint
    loader = library.map { LibraryLoader($0, isNeeded: needsLibrary) }
    tls = endpoint.tls ? try TLSContext.client(caFile: endpoint.caFile) : nil
    locator = RedisLocator(endpoint.place)
    timer = LoopTimer(loop: loop) { [unowned self] in timeIsOver() }
  }

  deinit {
    timer?.cancel()
    request?.cancel()
  }

  package var isReady: Bool { state == .ready }

  /// The address of the server that it is, or was last, connected to; nil before the first attempt.
  package var server: Endpoint? { link?.place }

  /// Whether functions can be called over it at all.
  package var hasLibrary: Bool { loader != nil }

  // MARK: Life

  /// Begins to connect; keeps trying until `close`. Repeating it does nothing.
  package func connect() {
    guard state == .idle else { return }
    open()
  }

  /// Ends the connection for good; pending commands fail. Repeating it does nothing.
  package func close() {
    guard state != .closed else { return }
    let link = isLinked ? self.link : nil
    timer.cancel()
    request?.cancel()
    request = nil
    state = .closed
    if let link { link.close() } else { resumeWaiters(.failure(Self.closed)) }
  }

  private var isLinked: Bool {
    switch state {
    case .connecting, .greeting, .ready: true
    case .idle, .locating, .waiting, .closed: false
    }
  }

  private func open() {
    switch locator.step {
    case .connect(let place): connect(to: place)
    case .ask(let sentinels):
      state = .locating
      timer.schedule(afterMs: sentinels.waitMs)
      let request = SentinelRequest { [unowned self] in located($0) }
      self.request = request
      sentinels.locate(on: loop, request)
    }
  }

  private func located(_ finding: SentinelFinding) {
    guard state == .locating else { return }
    timer.cancel()
    request = nil
    switch finding.master {
    case .success(let master): connect(to: master)
    case .failure(let error):
      losses.note(error, isFault: true, wasReady: false, nowNs: loop.nowNs)
      state = .waiting
      timer.schedule(afterMs: losses.delayMs())
      onLost?(error)
    }
    if let remark = finding.remark { onRemark?(remark) }
  }

  private func timeIsOver() {
    switch state {
    case .ready: lookAround()
    case .locating:
      request?.cancel()
      let error = RedisError.unavailable(reason: "nobody asked the sentinels in time")
      located(SentinelFinding(master: .failure(error), remark: nil))
    case .waiting: open()
    case .idle, .connecting, .greeting, .closed: break
    }
  }

  /// Asks whether the server is still the master, since one that is cut off from the others does not say so itself. One connection of
  /// a process asks for all.
  private func lookAround() {
    guard case .sentinels(let sentinels) = endpoint.place else { return }
    request?.cancel()
    let request = SentinelRequest { [unowned self] in looked($0) }
    self.request = request
    timer.schedule(afterMs: RedisLimits.sentinelLookMs)
    // Half as old: what was found at the look before came a moment after it, and would be fresh.
    sentinels.locate(on: loop, freshMs: RedisLimits.sentinelLookMs / 2, request)
  }

  private func looked(_ finding: SentinelFinding) {
    request = nil
    guard state == .ready, let link else { return }
    if let reason = locator.reasonToLeave(link.place, after: finding) {
      return link.discard(reason)
    }
    if case .failure(let error) = finding.master {
      onRemark?("work goes on with the master at \(link.place), but \(error.bareReason)")
    } else if let remark = finding.remark {
      onRemark?(remark)
    }
  }

  private func connect(to place: Endpoint) {
    state = .connecting
    let link = RedisLink(
      loop: loop, place: place, tls: tls, scheme: endpoint.place.scheme,
      roundTrips: self.link?.roundTrips ?? RoundTrips(), owner: self)
    link.patienceMs = patienceMs
    self.link = link
    link.open()
  }

  private func greeted(_ failure: RedisError?, on link: RedisLink) {
    guard link === self.link, state == .greeting else { return }
    if let failure { return link.discard(failure) }
    state = .ready
    link.isOfUse = true
    locator.arrive(at: link.place)
    losses.noteReady(nowNs: loop.nowNs)
    if case .sentinels = endpoint.place { timer.schedule(afterMs: RedisLimits.sentinelLookMs) }
    resumeWaiters(.success(()))
    onReady?()
  }

  private func lost(_ link: RedisLink, _ end: LinkEnd) {
    let wasReady = state == .ready
    request?.cancel()
    request = nil
    let isCutShort = end.cause == .cutShort
    let refusal = clusterRefusal(end.reason, at: link)
    let reason = refusal.map { $0.error(wasReady: wasReady) } ?? end.reason
    var departure = RedisLocator.Departure.atOnce
    if isCutShort {
      locator.stay(at: link.place)
    } else {
      departure = locator.leave(
        link.place, for: refusal?.next, wasOfUse: link.isOfUse, because: reason)
    }
    var told: RedisError?
    if case .later(let error) = departure { told = error }
    losses.note(told ?? reason, isFault: !isCutShort, wasReady: wasReady, nowNs: loop.nowNs)
    if state != .closed {
      state = .waiting
      timer.schedule(afterMs: told == nil ? 0 : losses.delayMs())
    }
    link.failPending(reason)
    if state == .closed { return resumeWaiters(.failure(Self.closed)) }
    // To be sent on from the first node is no failure yet, nor is one of several addresses.
    if wasReady, !isCutShort { onLost?(reason) } else if let told { onLost?(told) }
  }

  private static let closed = RedisError.unavailable(reason: "closed")

  /// Returns what an error of a cluster's node means here; nil for any other.
  private func clusterRefusal(_ error: RedisError, at link: RedisLink) -> ClusterRefusal? {
    ClusterRefusal(error, here: link.place, slotKey: endpoint.slotKey)
  }

  /// How far away the server is: the least that an answer took in the last second in which there were any, in
  /// nanoseconds; 0 before the first.
  package var roundTripNs: UInt64 { link?.roundTrips.leastNs ?? 0 }

  /// How long the answers to commands took, from their being written on, over all servers that it was connected to.
  package var answerTimes: DurationHistogram { (link?.roundTrips ?? RoundTrips()).times }

  // MARK: Commands

  /// Sends a command; the handler is called exactly once, on the loop, never before this returns except when
  /// the command cannot be sent at all.
  /// - Parameters:
  ///   - timeoutMs: after which the connection is discarded; nil for none (a blocking command).
  ///   - cutBytes: a reply of which the beginning says enough is cut short when so many bytes of a string in it are here and
  ///     more are to come: the handler gets what there is, and the connection is made anew.
  package func send(
    _ command: RedisCommand, timeoutMs: UInt64? = RedisLimits.commandTimeoutMs,
    cutBytes: Int = .max, _ handler: @escaping Handler
  ) {
    assert(loop.isOnLoop, "a connection is used on its loop only")
    guard state == .ready, let link else {
      return handler(.failure(.unavailable(reason: losses.reason)))
    }
    #if DEBUG
      if CrashPoint.isArmed {
        let name = CrashPoint.name(of: command)
        CrashPoint.pass("before \(name)")
        return link.write(command, timeoutMs: timeoutMs, cutBytes: cutBytes) { result in
          CrashPoint.pass("after \(name)")
          handler(result)
        }
      }
    #endif
    link.write(command, timeoutMs: timeoutMs, cutBytes: cutBytes, handler)
  }

  /// Whether so many commands of so many bytes in all can be sent now.
  func hasRoom(for commands: Int, bytes: Int) -> Bool {
    link?.hasRoom(for: commands, bytes: bytes) ?? false
  }

  /// Loads the functions, once for all who ask meanwhile; calls back with nil when they are there.
  func loadLibrary(_ done: @escaping (RedisError?) -> Void) {
    guard let loader else { return done(nil) }
    guard state == .ready, let link else {
      return done(.unavailable(reason: losses.reason))
    }
    loader.load(over: link, done)
  }
}

extension RedisConnection: RedisLinkOwner {
  func linkDidOpen(_ link: RedisLink) {
    state = .greeting
    RedisGreeting(
      on: link, of: endpoint, loader: loader, onTime: onTime
    ) { [unowned self] failure in greeted(failure, on: link) }.begin()
  }

  func reasonToEnd(_ link: RedisLink, after failure: RedisError) -> RedisError? {
    // While it is greeted, the answers say what is to become of it.
    if state == .ready, clusterRefusal(failure, at: link) != nil { return failure }
    // After a failover the name leads elsewhere; this connection would stay at the replica.
    guard case .server("READONLY", _) = failure else { return nil }
    return .connectionLost(reason: "the server became a read-only replica (READONLY)")
  }

  func linkDidEnd(_ link: RedisLink, _ end: LinkEnd) { lost(link, end) }
}
