internal import Reactor

/// One socket to a server: commands go out in order, and their replies come back in that order; loop-bound.
///
/// A link lives once. What is said first on it and where the next one goes is its owner's.
final class RedisLink {
  typealias Handler = (Result<RedisReply, RedisError>) -> Void

  /// Apart from that of the push networks: however long their name servers are silent, Redis is found.
  static let resolver = Resolver(threadsMax: 2)

  let loop: EventLoop
  let place: Endpoint
  /// The least time that an answer is waited for, ms, whatever its command allows.
  var patienceMs: UInt64 = 0
  private let tls: TLSContext?
  private let scheme: RedisScheme
  private let resolver: Resolver
  /// Held until the link has ended, as the stream holds the link.
  private var owner: (any RedisLinkOwner)?
  private var stream: ByteStream?
  private let reader = ReplyReader()
  private var pending = PendingCommands()
  private(set) var roundTrips: RoundTrips
  private var timeoutTimer: LoopTimer!
  private var timeoutDeadlineNs = UInt64.max
  private var hasOpened = false
  /// Whether anything was read of it.
  private var hasAnswered = false
  /// Whether its owner has found the server to be of use. Else the next connection to the same host begins with another address.
  var isOfUse = false
  /// Why the stream is being closed, when it is this side that closes it.
  private var ending: LinkEnd?

  /// - Parameters:
  ///   - scheme: that of the URL that led there, for advice.
  ///   - roundTrips: those of the link before, of which the least still tells.
  init(
    loop: EventLoop, place: Endpoint, tls: TLSContext?, scheme: RedisScheme,
    resolver: Resolver = RedisLink.resolver, roundTrips: RoundTrips = RoundTrips(),
    owner: any RedisLinkOwner
  ) {
    self.loop = loop
    self.place = place
    self.tls = tls
    self.scheme = scheme
    self.resolver = resolver
    self.roundTrips = roundTrips
    self.owner = owner
    timeoutTimer = LoopTimer(loop: loop) { [unowned self] in checkTimeout() }
  }

  deinit { timeoutTimer?.cancel() }

  // MARK: Life

  /// Begins to connect, once; the owner hears `linkDidOpen` or `linkDidEnd`.
  func open(timeoutMs: UInt64 = RedisLimits.connectTimeoutMs) {
    // Pushes leave before Redis is told of anything, and one write carries what their turn made to tell.
    let stream = ByteStream(
      loop: loop, delegate: self, outputBytesMax: RedisLimits.outputBytesMax, flushesLate: true)
    self.stream = stream
    stream.connect(to: place, tls: tls, timeoutMs: timeoutMs, resolver: resolver)
  }

  /// Ends it in order. The owner hears of it before this returns.
  func close() {
    ending = LinkEnd(reason: .connectionLost(reason: "closed by this side"), cause: .closed)
    stream?.close()
  }

  /// Ends it at once: what it still carries cannot be trusted. The owner hears of it before this returns.
  func discard(_ reason: RedisError) {
    ending = LinkEnd(reason: reason, cause: .lost)
    stream?.abort()
  }

  /// Ends it at once: the rest of a reply is on its way, and would take longer than a new link.
  private func cutShort() {
    ending = LinkEnd(reason: .connectionLost(reason: "a reply was cut short"), cause: .cutShort)
    stream?.abort()
  }

  /// Fails every command that waits for its reply.
  func failPending(_ reason: RedisError) {
    // Only the first in line can have timed out; the rest were lost along with it.
    var error = reason
    while let entry = pending.popFirst() {
      entry.handler(.failure(error))
      if reason == .timeout { error = .connectionLost(reason: reason.description) }
    }
  }

  // MARK: Commands

  /// Writes a command; the handler is called exactly once, on the loop, never before this returns except when the command cannot
  /// be written at all.
  /// - Parameters:
  ///   - timeoutMs: after which the link is discarded; nil for none.
  ///   - cutBytes: as of `RedisConnection.send`.
  func write(
    _ command: RedisCommand, timeoutMs: UInt64? = RedisLimits.commandTimeoutMs,
    cutBytes: Int = .max, _ handler: @escaping Handler
  ) {
    guard let stream, hasOpened else {
      return handler(.failure(.unavailable(reason: "not connected")))
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

  // MARK: Replies

  private func readReplies(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    if !hasAnswered, tls == nil, bytes.first == TLSMismatch.alert {
      throw .unsuitable(reason: TLSMismatch.answersWithTLS(scheme))
    }
    hasAnswered = true
    try reader.feed(bytes)
    var hasMore = true
    var leaving: RedisError?
    var isUnasked = false
    while hasMore && stream != nil && !isUnasked {
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
        if let reason = owner?.reasonToEnd(self, after: failure) { leaving = reason }
        entry.handler(.failure(failure))
      }
    }
    if isUnasked { throw .protocolViolation("a reply that no command asked for") }
    if let leaving { throw leaving }
    if let first = pending.first, reader.waiting >= first.cutBytes, let beginning = reader.beginning
    {
      _ = pending.popFirst()
      first.handler(.success(beginning))
      cutShort()
    }
  }
}

extension RedisLink: ByteStreamDelegate {
  func streamDidOpen(_ stream: ByteStream) {
    hasOpened = true
    owner?.linkDidOpen(self)
  }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    guard stream === self.stream else { return }
    do throws(RedisError) {
      try readReplies(bytes)
    } catch {
      if stream === self.stream { discard(error) }
    }
  }

  func streamFillsOutput(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    guard stream === self.stream else { return }
    let reason = failure?.description ?? "the server closed it"
    let advice = TLSMismatch.advice(
      failure, at: place, usesTLS: tls != nil, hasAnswered: hasAnswered || isOfUse, scheme: scheme)
    let end =
      ending
      ?? LinkEnd(
        reason: advice.map { .unsuitable(reason: "\(reason); \($0)") }
          ?? .connectionLost(reason: reason), cause: .lost)
    if hasOpened, !isOfUse, end.cause != .closed { stream.avoidAddress() }
    self.stream = nil
    timeoutTimer.cancel()
    let owner = self.owner
    self.owner = nil
    owner?.linkDidEnd(self, end)
  }
}

/// Why a link is at its end.
struct LinkEnd {
  enum Cause {
    /// Something went wrong.
    case lost
    /// Nothing went wrong: the rest of a reply was not wanted.
    case cutShort
    /// Its owner wanted it.
    case closed
  }

  let reason: RedisError
  let cause: Cause
}

/// The calls by which a link tells its owner of itself; every call comes on the loop.
protocol RedisLinkOwner: AnyObject {
  /// The socket is connected, and TLS settled: commands can be written.
  func linkDidOpen(_ link: RedisLink)

  /// Returns why the link is to be discarded once the error reply has been handed on; nil to keep it.
  func reasonToEnd(_ link: RedisLink, after failure: RedisError) -> RedisError?

  /// The link has ended, or never opened; called exactly once. Commands that wait for replies are still to be failed, by
  /// `failPending`.
  func linkDidEnd(_ link: RedisLink, _ end: LinkEnd)
}
