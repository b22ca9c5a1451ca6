package import Reactor

/// One connection to Redis that pipelines, and comes back by itself; loop-bound.
///
/// Replies come in the order of the commands. A lost connection fails every pending command and none of them
/// is sent again by itself: what was read on one connection never answers a command of another, and only the
/// caller knows whether repeating is safe. While there is no connection, commands fail at once with
/// `.unavailable` rather than queue: a lane then stops claiming, which is the back-pressure that is wanted.
/// `waitUntilReady` is for those that would rather wait.
package final class RedisConnection {
  enum State: Equatable {
    case idle, connecting, greeting, ready, waiting, closed
  }

  package typealias Handler = (Result<RedisReply, RedisError>) -> Void

  /// Apart from that of the push networks: however long their name servers are silent, Redis is found.
  private static let resolver = Resolver(threadsMax: 2)

  package let loop: EventLoop
  package let endpoint: RedisEndpoint
  let library: FunctionLibrary?
  /// Whether the connection is of no use without its functions.
  let needsLibrary: Bool
  private let tls: TLSContext?
  var state = State.idle
  private var stream: ByteStream?
  private var reader = ReplyReader()
  private var pending = PendingCommands()
  private var roundTrips = RoundTrips()
  private var timeoutTimer: LoopTimer!
  private var timeoutDeadlineNs = UInt64.max
  private var reconnectTimer: LoopTimer!
  private var failedAttempts = 0
  private var readySinceNs: UInt64 = 0
  /// Why the stream is being closed, when it is this side that closes it.
  private var closingReason: RedisError?
  /// Whether it is closed for the rest of a reply that nobody wants.
  private var isCutShort = false
  /// Whether anything was read of this connection.
  private var hasAnswered = false
  private var lastFailure = "not connected yet"
  /// The node of a cluster that the last one named; nil for the configured address.
  private var namedNode: Endpoint?
  /// The one that this node has just named.
  private var nextNode: Endpoint?
  /// How many nodes in a row have named another.
  private var redirections = 0
  var readyWaiters: [ReadyWaiter] = []
  /// Who waits for the functions to be loaded.
  var libraryWaiters: [(RedisError?) -> Void] = []
  /// Commands of the greeting that are not answered yet.
  var greetingsLeft = 0

  /// Called each time the connection can be used.
  package var onReady: (() -> Void)?
  /// Called with the server's clock (epoch ms) on each connecting, before it can be used, and with when that was asked
  /// for and answered, in the loop's time.
  package var onTime: ((_ serverMs: Int64, _ sentNs: UInt64, _ receivedNs: UInt64) -> Void)?
  /// Called with the reason each time it is lost or cannot be made, once per attempt; not on `close`, and not when it is made
  /// anew to be rid of a reply.
  package var onLost: ((RedisError) -> Void)?
  /// The least time that a command's answer is waited for, ms, whatever its caller allows: on a machine that others keep busy.
  package var patienceMs: UInt64 = 0

  /// - Parameters:
  ///   - library: loaded when the server lacks it, on connecting and when a function is missing.
  ///   - needsLibrary: false for a user who may be forbidden to load it: it is loaded only when a function is missing.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, library: FunctionLibrary? = nil,
    needsLibrary: Bool = true
  ) throws(TLSError) {
    self.loop = loop
    self.endpoint = endpoint
    self.library = library
    self.needsLibrary = needsLibrary
    tls = endpoint.tls ? try TLSContext.client(caFile: endpoint.caFile) : nil
    timeoutTimer = LoopTimer(loop: loop) { [unowned self] in checkTimeout() }
    reconnectTimer = LoopTimer(loop: loop) { [unowned self] in open() }
  }

  deinit {
    timeoutTimer?.cancel()
    reconnectTimer?.cancel()
  }

  package var isReady: Bool { state == .ready }

  /// Whether functions can be called over it at all.
  package var hasLibrary: Bool { library != nil }

  // MARK: Life

  /// Begins to connect; keeps trying until `close`. Repeating it does nothing.
  package func connect() {
    guard state == .idle else { return }
    open()
  }

  /// Ends the connection for good; pending commands fail. Repeating it does nothing.
  package func close() {
    guard state != .closed else { return }
    reconnectTimer.cancel()
    timeoutTimer.cancel()
    state = .closed
    closingReason = .connectionLost(reason: "closed by this side")
    if let stream { stream.close() } else { failAll(.unavailable(reason: "closed")) }
  }

  private func open() {
    state = .connecting
    reader = ReplyReader()
    closingReason = nil
    isCutShort = false
    hasAnswered = false
    // Pushes leave before Redis is told of anything, and one write carries what their turn made to tell.
    let stream = ByteStream(
      loop: loop, delegate: self, outputBytesMax: RedisLimits.outputBytesMax, flushesLate: true)
    self.stream = stream
    stream.connect(
      to: place, tls: tls, timeoutMs: RedisLimits.connectTimeoutMs, resolver: Self.resolver)
  }

  private var place: Endpoint { namedNode ?? endpoint.endpoint }

  /// Returns what an error of a cluster's node means here; nil for any other.
  func clusterRefusal(_ error: RedisError) -> ClusterRefusal? {
    ClusterRefusal(error, here: place, slotKey: endpoint.slotKey)
  }

  /// Drops the connection and starts over: what it still carries cannot be trusted.
  func discard(_ reason: RedisError) {
    nextNode = clusterRefusal(reason)?.next
    closingReason = clusterRefusal(reason).map { .connectionLost(reason: $0.reason) } ?? reason
    stream?.abort()
  }

  /// Makes the connection anew: the rest of a reply is on its way, and would take longer than that.
  private func cutShort() {
    isCutShort = true
    // Of a cluster, the same one.
    nextNode = namedNode
    closingReason = .connectionLost(reason: "a reply was cut short")
    stream?.abort()
  }

  func becomeReady() {
    state = .ready
    readySinceNs = loop.nowNs
    redirections = 0
    resumeWaiters(.success(()))
    onReady?()
  }

  private func lost(_ reason: RedisError) {
    if state == .greeting { stream?.avoidAddress() }
    stream = nil
    let wasReady = state == .ready
    let lived = wasReady ? (loop.nowNs &- readySinceNs) / 1_000_000 : 0
    failedAttempts = isCutShort || lived >= RedisLimits.healthyMs ? 0 : failedAttempts + 1
    lastFailure = reason.description
    let isRedirected = takeNextNode()
    if state != .closed {
      state = .waiting
      reconnectTimer.schedule(afterMs: isRedirected || isCutShort ? 0 : reconnectDelayMs())
    }
    timeoutTimer.cancel()
    timeoutDeadlineNs = .max
    failAll(reason)
    // To be sent on from the first node is no failure yet.
    if state != .closed, !isCutShort, wasReady || !isRedirected { onLost?(reason) }
  }

  /// Whether the next connection is to a node that the last one named; else it is to the configured address.
  private func takeNextNode() -> Bool {
    namedNode = redirections < RedisLimits.redirectionsMax ? nextNode : nil
    nextNode = nil
    redirections = namedNode == nil ? 0 : redirections + 1
    return namedNode != nil
  }

  /// Exponential with jitter, so that a fleet does not come back as one.
  private func reconnectDelayMs() -> UInt64 {
    let doublings = min(max(failedAttempts - 1, 0), 8)
    let ceiling = min(RedisLimits.reconnectMsMax, RedisLimits.reconnectMsMin << UInt64(doublings))
    return .random(in: (ceiling / 2)...ceiling)
  }

  private func failAll(_ reason: RedisError) {
    // Only the first in line can have timed out; the rest were lost along with it.
    var error = reason
    while let entry = pending.popFirst() {
      entry.handler(.failure(error))
      if reason == .timeout { error = .connectionLost(reason: reason.description) }
    }
    if state == .closed { resumeWaiters(.failure(.unavailable(reason: "closed"))) }
  }

  /// How far away the server is: the least that an answer took in the last second in which there were any, in
  /// nanoseconds; 0 before the first.
  package var roundTripNs: UInt64 { roundTrips.leastNs }

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
    guard state == .ready else {
      return handler(.failure(.unavailable(reason: lastFailure)))
    }
    #if DEBUG
      if CrashPoint.isArmed {
        let name = CrashPoint.name(of: command)
        CrashPoint.pass("before \(name)")
        return write(command, timeoutMs: timeoutMs, cutBytes: cutBytes) { result in
          CrashPoint.pass("after \(name)")
          handler(result)
        }
      }
    #endif
    write(command, timeoutMs: timeoutMs, cutBytes: cutBytes, handler)
  }

  /// Writes a command as `send` does, without asking whether the greeting is over.
  func write(
    _ command: RedisCommand, timeoutMs: UInt64?, cutBytes: Int = .max, _ handler: @escaping Handler
  ) {
    guard let stream, state == .ready || state == .greeting else {
      return handler(.failure(.unavailable(reason: lastFailure)))
    }
    guard hasRoom(for: 1, bytes: command.body.count) else {
      return handler(.failure(.tooManyPending))
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { line in
      let length = withDecimal(command.count) { digits in
        line[0] = UInt8(ascii: "*")
        for index in 0..<digits.count { line[index + 1] = digits[index] }
        return digits.count
      }
      line[length + 1] = UInt8(ascii: "\r")
      line[length + 2] = UInt8(ascii: "\n")
      _ = stream.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: line[..<(length + 3)])))
    }
    _ = command.body.withUnsafeBytes { stream.write($0) }
    let deadline = timeoutMs.map { loop.nowNs &+ max($0, patienceMs) &* 1_000_000 } ?? .max
    pending.append(
      PendingCommands.Entry(
        handler: handler, deadlineNs: deadline, sentNs: EventLoop.clockNs(), cutBytes: cutBytes))
    armTimeout(deadline)
    stream.requestFlush()
  }

  /// Whether so many commands of so many bytes in all can be written now.
  func hasRoom(for commands: Int, bytes: Int) -> Bool {
    guard let stream else { return false }
    return pending.count + commands <= RedisLimits.pendingCommandsMax
      && stream.outputRoom >= bytes + commands * 32
  }

  private func armTimeout(_ deadlineNs: UInt64) {
    guard deadlineNs < timeoutDeadlineNs else { return }
    timeoutDeadlineNs = deadlineNs
    timeoutTimer.schedule(afterMs: (deadlineNs &- min(deadlineNs, loop.nowNs)) / 1_000_000 + 1)
  }

  /// Only the first in line is looked at: what is behind a slow command waits for it by right.
  private func checkTimeout() {
    timeoutDeadlineNs = .max
    guard let first = pending.first else { return }
    if first.deadlineNs <= loop.nowNs {
      discard(.timeout)
    } else if first.deadlineNs != .max {
      armTimeout(first.deadlineNs)
    } else {
      // A command without a limit is first; those behind it are looked at again later.
      armTimeout(loop.nowNs &+ RedisLimits.commandTimeoutMs &* 1_000_000)
    }
  }

  private func readReplies(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    if !hasAnswered, tls == nil, bytes.first == TLSMismatch.alert {
      throw .unsuitable(reason: TLSMismatch.answersWithTLS)
    }
    hasAnswered = true
    // Held, because a handler may close the connection and with it the reader.
    let reader = self.reader
    try reader.feed(bytes)
    var hasMore = true
    var isReadOnly = false
    var refusal: RedisError?
    var isUnasked = false
    while hasMore && reader === self.reader && stream != nil && !isUnasked {
      hasMore = try reader.next { reply in
        guard let entry = pending.popFirst() else {
          isUnasked = true
          return
        }
        if loop.nowNs > entry.sentNs {
          roundTrips.note(loop.nowNs - entry.sentNs, nowNs: loop.nowNs)
        }
        guard reply.kind == .error else { return entry.handler(.success(reply)) }
        let failure = reply.failure
        if case .server("READONLY", _) = failure { isReadOnly = true }
        if state == .ready, clusterRefusal(failure) != nil { refusal = failure }
        entry.handler(.failure(failure))
      }
    }
    if isUnasked { throw .protocolViolation("a reply that no command asked for") }
    if let refusal { throw refusal }
    // After a failover the name leads elsewhere; this connection would stay at the replica.
    if isReadOnly { throw .connectionLost(reason: "the server became a read-only replica") }
    if let first = pending.first, reader.waiting >= first.cutBytes, let beginning = reader.beginning
    {
      _ = pending.popFirst()
      first.handler(.success(beginning))
      cutShort()
    }
  }
}

extension RedisConnection: ByteStreamDelegate {
  package func streamDidOpen(_ stream: ByteStream) { greet() }

  package func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    guard stream === self.stream else { return }
    do throws(RedisError) {
      try readReplies(bytes)
    } catch {
      if stream === self.stream { discard(error) }
    }
  }

  package func streamFillsOutput(_ stream: ByteStream) {}

  package func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    guard stream === self.stream else { return }
    let reason = failure?.description ?? "the server closed it"
    let advice = TLSMismatch.advice(
      failure, at: place, usesTLS: endpoint.tls, hasAnswered: hasAnswered || state == .ready)
    lost(
      closingReason
        ?? advice.map { .unsuitable(reason: "\(reason); \($0)") }
        ?? .connectionLost(reason: reason))
  }
}
