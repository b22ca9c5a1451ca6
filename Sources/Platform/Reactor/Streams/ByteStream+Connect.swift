internal import Glibc

/// A connection in the making: the addresses that are being tried, and those still to try.
struct ConnectAttempt {
  /// nil for an accepted socket.
  let endpoint: Endpoint?
  /// Tunnels to the endpoint; nil where it is connected to itself.
  let proxy: ProxyServer?
  let context: TLSContext?
  let serverName: String?
  let resolver: Resolver
  let deadlineNs: UInt64
  /// Ends all of it.
  let deadline: LoopTimer
  /// Brings the next address in beside those that are being tried.
  let next: LoopTimer
  var lookUp: Resolver.Ticket?
  /// The host that is looked up, or was last.
  var host = ""
  var routes: ArraySlice<ConnectRoute> = []
  /// In the order in which they were begun.
  var candidates: [ConnectCandidate] = []
  /// Why an address failed: of the last one, but that TLS failed before all else, and then what a proxy said.
  var failure: StreamFailure?

  /// The peer of the first connection: the proxy, where there is one.
  var nearest: Endpoint? { proxy?.endpoint ?? endpoint }
}

/// Connecting as RFC 8305 has it ("Happy Eyeballs"): the next address is tried when one has failed, or beside it
/// when it takes long. A proxy's tunnel and TLS are part of it, so the first to finish its handshake wins; the others are
/// dropped.
extension ByteStream {
  /// Opens a connection; the delegate hears `streamDidOpen` or `didCloseWith`.
  /// - Parameters:
  ///   - serverName: what the peer's certificate must carry; the endpoint's host when nil.
  ///   - proxy: tunnels to the endpoint, which is TCP then.
  ///   - timeoutMs: for the whole of it: the look-up, all addresses, the tunnel and TLS.
  package func connect(
    to endpoint: Endpoint, through proxy: ProxyServer? = nil, tls context: TLSContext?,
    serverName: String? = nil, timeoutMs: UInt64, resolver: Resolver = .shared
  ) {
    precondition(state == .idle, "a stream connects once")
    var serverName = serverName
    if serverName == nil, case .tcp(let host, _) = endpoint { serverName = host }
    begin(
      endpoint: endpoint, proxy: proxy, context: context, serverName: serverName,
      resolver: resolver, timeoutMs: timeoutMs)
    switch endpoint {
    case .unix(let path):
      do {
        attempt!.routes = [ConnectRoute(address: try SocketAddress(unixPath: path))]
      } catch { return failSoon(.system(error)) }
      beginNextAddress()
    case .tcp(let host, let port):
      guard let proxy else {
        return lookUp(host, port) { stream, addresses in
          stream.begin(addresses.map { ConnectRoute(address: $0) })
        }
      }
      switch SocketAddress.lookUp(host: host, port: port, numericOnly: true) {
      case .success(let addresses) where proxy.way != .http:
        lookUpProxy(proxy, to: addresses.map { .address($0) })
      case .failure where proxy.way == .socks5:
        lookUp(host, port) { stream, addresses in
          stream.lookUpProxy(proxy, to: addresses.map { .address($0) })
        }
      case .success, .failure: lookUpProxy(proxy, to: [.host(host, port: port)])
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
      endpoint: nil, proxy: nil, context: context, serverName: nil, resolver: .shared,
      timeoutMs: timeoutMs)
    do throws(SystemError) {
      try add(ConnectCandidate(accepted: descriptor, loop: loop))
    } catch { failSoon(.system(error)) }
  }

  private func begin(
    endpoint: Endpoint?, proxy: ProxyServer?, context: TLSContext?, serverName: String?,
    resolver: Resolver, timeoutMs: UInt64
  ) {
    state = .opening
    // Both are cancelled when the stream closes, until which a candidate's registration or the look-up keeps it. Not
    // weak: a side table would make every retain of the stream slow from then on.
    let deadline = LoopTimer(loop: loop) { [unowned self] in timeIsOver() }
    let next = LoopTimer(loop: loop) { [unowned self] in beginNextAddress() }
    deadline.schedule(afterMs: timeoutMs)
    attempt = ConnectAttempt(
      endpoint: endpoint, proxy: proxy, context: context, serverName: serverName,
      resolver: resolver, deadlineNs: deadline.deadlineNs,
      deadline: deadline, next: next)
  }

  /// Fails from the loop rather than from within the caller's own call.
  private func failSoon(_ failure: StreamFailure) {
    let bound = LoopBound(self, loop: loop)
    loop.execute { bound.value.finish(failure) }
  }

  /// Looks a host up and goes on with its addresses, those that failed lately behind the others.
  private func lookUp(
    _ host: String, _ port: UInt16, _ then: @escaping (ByteStream, [SocketAddress]) -> Void
  ) {
    attempt!.host = host
    let bound = LoopBound((self, then), loop: loop)
    attempt!.lookUp = attempt!.resolver.resolve(host: host, port: port) { [loop] result in
      loop.execute {
        let (stream, then) = bound.value
        stream.resolved(result, then)
      }
    }
  }

  private func resolved(
    _ result: Result<[SocketAddress], StreamFailure>,
    _ then: (ByteStream, [SocketAddress]) -> Void
  ) {
    guard state == .opening else { return }
    attempt!.lookUp = nil
    switch result {
    case .failure(let failure): finish(failure)
    case .success(let addresses):
      then(self, attempt!.resolver.history.ordered(addresses, nowNs: loop.nowNs))
    }
  }

  private func lookUpProxy(_ proxy: ProxyServer, to targets: [TunnelTarget]) {
    guard case .tcp(let host, let port) = proxy.endpoint else { return }
    lookUp(host, port) { stream, addresses in
      stream.begin(ConnectRoute.all(through: addresses, to: targets))
    }
  }

  // MARK: Addresses

  private func begin(_ routes: [ConnectRoute]) {
    attempt!.routes = routes[...]
    beginNextAddress()
  }

  private func beginNextAddress() {
    while let route = attempt?.routes.popFirst() {
      do throws(SystemError) {
        try add(ConnectCandidate(by: route, loop: loop))
        return scheduleNext()
      } catch {
        guard error.isOutOfDescriptors else {
          noteFailure(of: route.address, .system(error))
          continue
        }
        // No fault of the address, and no other would do better.
        attempt!.failure = .system(error)
        attempt!.routes = []
      }
    }
    guard let attempt, attempt.candidates.isEmpty else { return }
    failSoon(attempt.failure ?? .resolve(host: attempt.host, reason: "no address"))
  }

  private func add(_ candidate: ConnectCandidate) throws(SystemError) {
    try candidate.watch(with: CandidateWatch(stream: self, candidate: candidate))
    attempt!.candidates.append(candidate)
  }

  /// Each address that is left gets its turn before the time is over.
  private func scheduleNext() {
    guard let attempt, !attempt.routes.isEmpty else { return }
    let hasAnswered = attempt.candidates.last?.isConnected ?? false
    let delayMs = hasAnswered ? ReactorLimits.handshakeDelayMs : ReactorLimits.attemptDelayMs
    let leftMs = (attempt.deadlineNs &- min(loop.nowNs, attempt.deadlineNs)) / 1_000_000
    let shareMs = leftMs / UInt64(attempt.routes.count + 1)
    attempt.next.schedule(afterMs: max(ReactorLimits.attemptDelayMsMin, min(delayMs, shareMs)))
  }

  fileprivate func advance(_ candidate: ConnectCandidate, _ readiness: Readiness) {
    guard let attempt else { return }
    let (wasConnected, wasTunnelling) = (candidate.isConnected, candidate.isTunnelling)
    candidate.advance(readiness, in: attempt)
    // Behind a tunnel the handshake has as long as one without.
    if wasTunnelling, candidate.isHandshaking, candidate === attempt.candidates.last {
      scheduleNext()
    }
    if candidate.isConnected, !wasConnected {
      if candidate.isTunnelling, let proxy = attempt.proxy {
        let leftMs = (attempt.deadlineNs &- min(loop.nowNs, attempt.deadlineNs)) / 1_000_000
        let limitMs = leftMs * ReactorLimits.tunnelTimePercentMax / 100
        // Cancelled before either lets go of the other.
        candidate.limitTunnel(toMs: limitMs) { [unowned self, unowned candidate] in
          candidate.failTunnel(Self.tunnelTimeout(proxy))
          follow(candidate)
        }
      }
      if candidate === attempt.candidates.last { scheduleNext() }
    }
    follow(candidate)
  }

  private func follow(_ candidate: ConnectCandidate) {
    switch candidate.phase {
    case .connecting, .tunnelling, .handshaking: return
    case .open: open(candidate)
    case .failed(let failure):
      candidate.drop()
      self.attempt!.candidates.removeAll { $0 === candidate }
      guard let address = candidate.blamed else { return finish(Self.ofAccepted(failure)) }
      noteFailure(of: address, failure)
      if candidate.endsAttempt { self.attempt?.routes = [] }
      beginNextAddress()
    }
  }

  private func open(_ candidate: ConnectCandidate) {
    guard let attempt else { return }
    // Those that had longer and did not get as far are not begun with next time.
    for slower in attempt.candidates.prefix(while: { $0 !== candidate }) {
      if let address = slower.blamed { noteFailure(of: address) }
    }
    didOpen(candidate)
  }

  /// An address could not be connected to, or nothing came of that.
  private func noteFailure(of address: SocketAddress, _ failure: StreamFailure) {
    noteFailure(of: address)
    guard let attempt, let nearest = attempt.nearest else { return }
    let known = attempt.failure?.rank ?? 0
    guard known == 0 || failure.rank > known else { return }
    let place = attempt.proxy == nil ? "\(nearest)" : "the proxy \(nearest)"
    self.attempt!.failure =
      if case .system(let error) = failure {
        .system(SystemError("connect to \(place)", errno: error.errno))
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
    if attempt.lookUp != nil {
      return finish(.resolve(host: attempt.host, reason: "no answer in time"))
    }
    for candidate in attempt.candidates {
      if let address = candidate.blamed { noteFailure(of: address) }
    }
    if attempt.candidates.contains(where: \.isHandshaking) {
      return finish(.handshakeTimeout(endpoint))
    }
    guard let proxy = attempt.proxy else { return finish(.connectTimeout(endpoint)) }
    if let failure = attempt.failure, failure.rank > 0 { return finish(failure) }
    finish(
      attempt.candidates.contains(where: \.isTunnelling)
        ? Self.tunnelTimeout(proxy)
        : .proxy(proxy.endpoint, reason: "does not answer to the connect in time"))
  }

  private static func tunnelTimeout(_ proxy: ProxyServer) -> StreamFailure {
    .proxy(proxy.endpoint, reason: "has not opened its tunnel in time")
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
