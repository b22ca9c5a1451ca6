internal import Glibc

/// A connection in the making: the addresses that are being tried, and those still to try.
struct ConnectAttempt {
  /// nil for an accepted socket.
  let endpoint: Endpoint?
  let context: TLSContext?
  let serverName: String?
  let resolver: Resolver
  let deadlineNs: UInt64
  /// Ends all of it.
  let deadline: LoopTimer
  /// Brings the next address in beside those that are being tried.
  let next: LoopTimer
  var lookUp: Resolver.Ticket?
  var addresses: ArraySlice<SocketAddress> = []
  /// In the order in which they were begun.
  var candidates: [ConnectCandidate] = []
  /// Why an address failed: of the last one, but that TLS failed before all else.
  var failure: StreamFailure?
}

/// Connecting as RFC 8305 has it ("Happy Eyeballs"): the next address is tried when one has failed, or beside it
/// when it takes long. TLS is part of it, so the first to finish its handshake wins; the others are dropped.
extension ByteStream {
  /// Opens a connection; the delegate hears `streamDidOpen` or `didCloseWith`.
  /// - Parameters:
  ///   - serverName: what the peer's certificate must carry; the endpoint's host when nil.
  ///   - timeoutMs: for the whole of it: the look-up, all addresses, and TLS.
  package func connect(
    to endpoint: Endpoint, tls context: TLSContext?, serverName: String? = nil, timeoutMs: UInt64,
    resolver: Resolver = .shared
  ) {
    precondition(state == .idle, "a stream connects once")
    var serverName = serverName
    if serverName == nil, case .tcp(let host, _) = endpoint { serverName = host }
    begin(
      endpoint: endpoint, context: context, serverName: serverName, resolver: resolver,
      timeoutMs: timeoutMs)
    switch endpoint {
    case .unix(let path):
      do {
        attempt!.addresses = [try SocketAddress(unixPath: path)]
      } catch { return failSoon(.system(error)) }
      beginNextAddress()
    case .tcp(let host, let port):
      let bound = LoopBound(self, loop: loop)
      attempt!.lookUp = resolver.resolve(host: host, port: port) { [loop] result in
        loop.execute { bound.value.resolved(result) }
      }
    }
  }

  /// Takes over a socket that a listener accepted; the delegate hears of it in a later turn.
  /// - Parameter timeoutMs: for the TLS handshake.
  package func adopt(
    descriptor: CInt, tls context: TLSContext?, timeoutMs: UInt64 = ReactorLimits.acceptTimeoutMs
  ) {
    precondition(state == .idle, "a stream is opened once")
    begin(
      endpoint: nil, context: context, serverName: nil, resolver: .shared, timeoutMs: timeoutMs)
    do throws(SystemError) {
      try add(ConnectCandidate(accepted: descriptor, loop: loop))
    } catch { failSoon(.system(error)) }
  }

  private func begin(
    endpoint: Endpoint?, context: TLSContext?, serverName: String?, resolver: Resolver,
    timeoutMs: UInt64
  ) {
    state = .opening
    // Both are cancelled when the stream closes, until which a candidate's registration or the look-up keeps it. Not
    // weak: a side table would make every retain of the stream slow from then on.
    let deadline = LoopTimer(loop: loop) { [unowned self] in timeIsOver() }
    let next = LoopTimer(loop: loop) { [unowned self] in beginNextAddress() }
    deadline.schedule(afterMs: timeoutMs)
    attempt = ConnectAttempt(
      endpoint: endpoint, context: context, serverName: serverName, resolver: resolver,
      deadlineNs: deadline.deadlineNs, deadline: deadline, next: next)
  }

  /// Fails from the loop rather than from within the caller's own call.
  private func failSoon(_ failure: StreamFailure) {
    let bound = LoopBound(self, loop: loop)
    loop.execute { bound.value.finish(failure) }
  }

  private func resolved(_ result: Result<[SocketAddress], StreamFailure>) {
    guard state == .opening else { return }
    attempt!.lookUp = nil
    switch result {
    case .failure(let failure): finish(failure)
    case .success(let addresses):
      attempt!.addresses = attempt!.resolver.history.ordered(addresses, nowNs: loop.nowNs)[...]
      beginNextAddress()
    }
  }

  // MARK: Addresses

  private func beginNextAddress() {
    while let address = attempt?.addresses.popFirst() {
      do throws(SystemError) {
        try add(ConnectCandidate(to: address, loop: loop))
        return scheduleNext()
      } catch {
        guard error.isOutOfDescriptors else {
          noteFailure(of: address, .system(error))
          continue
        }
        // No fault of the address, and no other would do better.
        attempt!.failure = .system(error)
        attempt!.addresses = []
      }
    }
    guard let attempt, attempt.candidates.isEmpty else { return }
    failSoon(attempt.failure ?? .resolve(host: "", reason: "no address"))
  }

  private func add(_ candidate: ConnectCandidate) throws(SystemError) {
    try candidate.watch(with: CandidateWatch(stream: self, candidate: candidate))
    attempt!.candidates.append(candidate)
  }

  /// Each address that is left gets its turn before the time is over.
  private func scheduleNext() {
    guard let attempt, !attempt.addresses.isEmpty else { return }
    let isHandshaking =
      if case .handshaking = attempt.candidates.last?.phase { true } else { false }
    let delayMs = isHandshaking ? ReactorLimits.handshakeDelayMs : ReactorLimits.attemptDelayMs
    let leftMs = (attempt.deadlineNs &- min(loop.nowNs, attempt.deadlineNs)) / 1_000_000
    let shareMs = leftMs / UInt64(attempt.addresses.count + 1)
    attempt.next.schedule(afterMs: max(ReactorLimits.attemptDelayMsMin, min(delayMs, shareMs)))
  }

  fileprivate func advance(_ candidate: ConnectCandidate, _ readiness: Readiness) {
    guard let attempt else { return }
    let wasConnecting = if case .connecting = candidate.phase { true } else { false }
    candidate.advance(readiness, context: attempt.context, serverName: attempt.serverName)
    switch candidate.phase {
    case .connecting: return
    case .handshaking: if wasConnecting, candidate === attempt.candidates.last { scheduleNext() }
    case .open: open(candidate)
    case .failed(let failure):
      candidate.drop()
      self.attempt!.candidates.removeAll { $0 === candidate }
      guard let address = candidate.address else { return finish(Self.ofAccepted(failure)) }
      noteFailure(of: address, failure)
      beginNextAddress()
    }
  }

  private func open(_ candidate: ConnectCandidate) {
    guard let attempt else { return }
    // Those that had longer and did not get as far are not begun with next time.
    for slower in attempt.candidates.prefix(while: { $0 !== candidate }) {
      if let address = slower.address { noteFailure(of: address) }
    }
    didOpen(candidate)
  }

  /// An address could not be connected to.
  private func noteFailure(of address: SocketAddress, _ failure: StreamFailure) {
    noteFailure(of: address)
    guard let endpoint = attempt?.endpoint else { return }
    if case .tls = attempt?.failure { return }
    attempt!.failure =
      if case .system(let error) = failure {
        .system(SystemError("connect to \(endpoint)", errno: error.errno))
      } else { failure }
  }

  private func noteFailure(of address: SocketAddress) {
    attempt?.resolver.history.noteFailure(address, nowNs: loop.nowNs)
  }

  private static func ofAccepted(_ failure: StreamFailure) -> StreamFailure {
    guard case .system(let error) = failure else { return failure }
    return .system(SystemError("accepted socket", errno: error.errno))
  }

  private func timeIsOver() {
    guard let attempt else { return }
    guard let endpoint = attempt.endpoint else {
      return finish(.tls("the client did not finish the handshake in time"))
    }
    if attempt.lookUp != nil, case .tcp(let host, _) = endpoint {
      return finish(.resolve(host: host, reason: "no answer in time"))
    }
    for candidate in attempt.candidates {
      if let address = candidate.address { noteFailure(of: address) }
    }
    let isHandshaking = attempt.candidates.contains {
      if case .handshaking = $0.phase { true } else { false }
    }
    finish(isHandshaking ? .handshakeTimeout(endpoint) : .connectTimeout(endpoint))
  }

  /// Lets go of everything that was begun.
  func endAttempt() {
    guard let attempt else { return }
    attempt.deadline.cancel()
    attempt.next.cancel()
    if let lookUp = attempt.lookUp { attempt.resolver.cancel(lookUp) }
    for candidate in attempt.candidates { candidate.drop() }
    self.attempt = nil
  }
}

/// Leads what epoll says of a candidate's socket to its stream, which it keeps alive.
private final class CandidateWatch: ReadinessHandler {
  private let stream: ByteStream
  private let candidate: ConnectCandidate

  init(stream: ByteStream, candidate: ConnectCandidate) {
    self.stream = stream
    self.candidate = candidate
  }

  func ready(_ readiness: Readiness) { stream.advance(candidate, readiness) }
}
