internal import Glibc

/// A connection in the making: the addresses still to try, one after the other.
struct ConnectAttempt {
  /// nil for an accepted socket.
  let endpoint: Endpoint?
  let context: TLSContext?
  let serverName: String?
  var addresses: ArraySlice<SocketAddress> = []
  var timeoutMs: UInt64
  let timer: LoopTimer
  var lastFailure: StreamFailure?
}

extension ByteStream {
  /// Opens a connection; the delegate hears `streamDidOpen` or `didCloseWith`.
  /// - Parameters:
  ///   - serverName: what the peer's certificate must carry; the endpoint's host when nil.
  ///   - timeoutMs: for the whole of it, each of several addresses getting its share.
  package func connect(
    to endpoint: Endpoint, tls context: TLSContext?, serverName: String? = nil, timeoutMs: UInt64
  ) {
    precondition(state == .idle, "a stream connects once")
    state = .resolving
    var serverName = serverName
    if serverName == nil, case .tcp(let host, _) = endpoint { serverName = host }
    begin(endpoint: endpoint, context: context, serverName: serverName, timeoutMs: timeoutMs)
    switch endpoint {
    case .unix(let path):
      do {
        connectToAddresses([try SocketAddress(unixPath: path)])
      } catch { failSoon(.system(error)) }
    case .tcp(let host, let port):
      let bound = LoopBound(self, loop: loop)
      Resolver.shared.resolve(host: host, port: port) { [loop] result in
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
    state = .connecting
    begin(endpoint: nil, context: context, serverName: nil, timeoutMs: timeoutMs)
    self.descriptor = descriptor
    disableDelay()
    // epoll reports a connected socket writable, which goes on as after connecting.
    do { try watch() } catch { failSoon(.system(error)) }
  }

  private func begin(
    endpoint: Endpoint?, context: TLSContext?, serverName: String?, timeoutMs: UInt64
  ) {
    // Cancelled when the stream closes, until which its registration or look-up keeps it. Not weak:
    // a side table would make every retain of the stream slow from then on.
    let timer = LoopTimer(loop: loop) { [unowned self] in connectTimedOut() }
    attempt = ConnectAttempt(
      endpoint: endpoint, context: context, serverName: serverName, timeoutMs: timeoutMs,
      timer: timer)
    timer.schedule(afterMs: timeoutMs)
  }

  /// Fails from the loop rather than from within the caller's own call.
  private func failSoon(_ failure: StreamFailure) {
    let bound = LoopBound(self, loop: loop)
    loop.execute { bound.value.finish(failure) }
  }

  private func resolved(_ result: Result<[SocketAddress], StreamFailure>) {
    guard state == .resolving else { return }
    switch result {
    case .failure(let failure): finish(failure)
    case .success(let addresses): connectToAddresses(addresses)
    }
  }

  private func connectToAddresses(_ addresses: [SocketAddress]) {
    guard var attempt else { return }
    attempt.addresses = addresses[...]
    attempt.timeoutMs = max(1, attempt.timeoutMs / UInt64(max(1, addresses.count)))
    self.attempt = attempt
    tryNextAddress()
  }

  private func tryNextAddress() {
    dropDescriptor()
    guard let address = attempt?.addresses.popFirst() else {
      let failure = attempt?.lastFailure ?? .resolve(host: "", reason: "no address")
      state = .connecting
      return failSoon(failure)
    }
    state = .connecting
    attempt!.timer.schedule(afterMs: attempt!.timeoutMs)
    descriptor = socket(
      address.family,
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return addressFailed(errno) }
    disableDelay()
    let result = address.withPointer { Glibc.connect(descriptor, $0, $1) }
    let code = errno
    guard result == 0 || code == EINPROGRESS else { return addressFailed(code) }
    do { try watch() } catch { return addressFailed(error.errno) }
    // A unix socket connects at once; epoll still reports it writable.
  }

  private func addressFailed(_ code: CInt) {
    guard let attempt else { return }
    guard let endpoint = attempt.endpoint else {
      return finish(.system(SystemError("accepted socket", errno: code)))
    }
    self.attempt?.lastFailure = .system(SystemError("connect to \(endpoint)", errno: code))
    tryNextAddress()
  }

  private func connectTimedOut() {
    guard let attempt else { return }
    guard let endpoint = attempt.endpoint else {
      return finish(.tls("the client did not finish the handshake in time"))
    }
    self.attempt?.lastFailure = .connectTimeout(endpoint)
    switch state {
    case .connecting where !attempt.addresses.isEmpty: tryNextAddress()
    default: finish(.connectTimeout(endpoint))
    }
  }

  func connectReady(_ readiness: Readiness) {
    guard let attempt, !readiness.isDisjoint(with: [.writable, .hangUp, .failed]) else { return }
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    guard code == 0 else { return addressFailed(code) }
    beginSession(context: attempt.context, serverName: attempt.serverName)
  }

  /// Each flush is a whole batch already; Nagle's algorithm would only hold it back.
  private func disableDelay() {
    var one: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
  }
}
