internal import Glibc

/// One socket on its way to being an open connection: TCP first, a proxy's tunnel where there is one, then TLS where it
/// is asked for; loop-bound.
final class ConnectCandidate {
  /// How far it has come.
  enum Phase {
    case connecting, tunnelling, handshaking, open
    case failed(StreamFailure)
  }

  /// nil for an accepted socket.
  let route: ConnectRoute?
  private(set) var phase = Phase.connecting
  /// Whether its address has taken the connection.
  private(set) var isConnected = false
  private(set) var descriptor: CInt
  private var registration: RegistrationTable.Place?
  private var exchange: (any TunnelExchange)?
  /// Whether its failure would be that of every other way, too.
  private(set) var endsAttempt = false
  private var isTargetAsked = false
  /// The proxy whose tunnel it came through.
  private var tunnel: Endpoint?
  /// Rings when the proxy takes too long.
  private var tunnelTimer: LoopTimer?
  private var tls: TLSSession?
  private let loop: EventLoop

  /// Begins to connect.
  init(by route: ConnectRoute, loop: EventLoop) throws(SystemError) {
    self.route = route
    self.loop = loop
    descriptor = socket(
      route.address.family,
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket", errno: errno) }
    disableDelay()
    let result = route.address.withPointer { Glibc.connect(descriptor, $0, $1) }
    let code = errno
    guard result == 0 || code == EINPROGRESS else { throw SystemError("connect", errno: code) }
  }

  /// Takes over an accepted socket.
  init(accepted descriptor: CInt, loop: EventLoop) {
    route = nil
    self.loop = loop
    self.descriptor = descriptor
    disableDelay()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// A unix socket is connected at once, and an accepted one is already; epoll reports both writable.
  func watch(with handler: any ReadinessHandler) throws(SystemError) {
    registration = try loop.register(descriptor, for: [.input, .writable], handler: handler)
  }

  /// The address that is to blame for a failure; nil for an accepted socket.
  var blamed: SocketAddress? { isTargetAsked ? route?.reached : route?.address }

  var isTunnelling: Bool { if case .tunnelling = phase { true } else { false } }
  var isHandshaking: Bool { if case .handshaking = phase { true } else { false } }

  /// Goes on with what became possible.
  func advance(_ readiness: Readiness, in attempt: ConnectAttempt) {
    switch phase {
    case .connecting:
      guard !readiness.isDisjoint(with: [.writable, .hangUp, .failed]) else { return }
      let code = socketError()
      guard code == 0 else { return phase = .failed(.system(SystemError("connect", errno: code))) }
      isConnected = true
      guard let proxy = attempt.proxy, let target = route?.target else {
        return beginTLS(attempt)
      }
      exchange = proxy.exchange(for: target)
      phase = .tunnelling
      negotiate(with: proxy, attempt)
    case .tunnelling:
      if let proxy = attempt.proxy { negotiate(with: proxy, attempt) }
    case .handshaking: handshake()
    case .open, .failed: return
    }
  }

  // MARK: The tunnel

  /// Has it fail when the proxy has not opened its tunnel by then.
  func limitTunnel(toMs limitMs: UInt64, _ isLate: @escaping () -> Void) {
    let timer = LoopTimer(loop: loop, action: isLate)
    timer.schedule(afterMs: limitMs)
    tunnelTimer = timer
  }

  func failTunnel(_ failure: StreamFailure) {
    endTunnel()
    phase = .failed(failure)
  }

  private func endTunnel() {
    tunnelTimer?.cancel()
    tunnelTimer = nil
    exchange = nil
  }

  private func negotiate(with proxy: ProxyServer, _ attempt: ConnectAttempt) {
    func refused(_ reason: String) { failTunnel(.proxy(proxy.endpoint, reason: reason)) }
    while true {
      isTargetAsked = exchange!.isTargetAsked
      switch exchange!.progress {
      case .open:
        endTunnel()
        tunnel = proxy.endpoint
        return beginTLS(attempt)
      case .refused(let reason):
        endsAttempt = !exchange!.isAboutTarget
        return refused(reason)
      case .goesOn: break
      }
      switch exchange!.output.isEmpty ? receive() : send() {
      case .some(true): break
      case .some(false): return
      case nil: return refused("closed the connection before its tunnel was open")
      }
    }
  }

  /// - Returns: whether anything was sent; nil when the proxy has gone.
  private func send() -> Bool? {
    let count = exchange!.output.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
    }
    guard count < 0 else {
      exchange!.output.removeFirst(count)
      return true
    }
    return errno == EAGAIN || errno == EINTR ? false : nil
  }

  /// Reads no byte beyond the proxy's answer: what follows is the tunnel's.
  /// - Returns: whether anything was read; nil when the proxy has gone.
  private func receive() -> Bool? {
    let buffer = loop.readBuffer
    let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_PEEK))
    guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) ? false : nil }
    let taken = exchange!.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    recv(descriptor, buffer.baseAddress, taken, 0)
    return true
  }

  // MARK: TLS

  private func beginTLS(_ attempt: ConnectAttempt) {
    guard let context = attempt.context else { return phase = .open }
    do throws(TLSError) {
      tls = try TLSSession(
        context: context, descriptor: descriptor, serverName: attempt.serverName)
    } catch { return phase = .failed(.tls(error.message)) }
    phase = .handshaking
    handshake()
  }

  private func handshake() {
    switch tls!.handshake() {
    case .bytes: phase = .open
    case .wantsRead, .wantsWrite: return
    case .closed: phase = .failed(ofHandshake(.truncated))
    case .failed(let failure): phase = .failed(ofHandshake(failure))
    }
  }

  /// The failure in the words of who can mend it: what cuts a handshake stands behind the proxy, where there is a tunnel.
  private func ofHandshake(_ failure: StreamFailure) -> StreamFailure {
    guard let tunnel else { return failure }
    switch failure {
    case .system, .truncated:
      return .proxy(
        tunnel, reason: "opened its tunnel, and the connection was cut in the TLS handshake")
    default: return failure
    }
  }

  private func socketError() -> CInt {
    var code: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    return code
  }

  /// Each flush is a whole batch already; Nagle's algorithm would only hold it back.
  private func disableDelay() {
    var one: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
  }

  /// Gives its socket to the stream that it was opened for.
  func takeSocket() -> (descriptor: CInt, registration: RegistrationTable.Place?) {
    defer { (descriptor, registration) = (-1, nil) }
    return (descriptor, registration)
  }

  func takeSession() -> TLSSession? { tls.take() }

  /// Gives it up.
  func drop() {
    endTunnel()
    tls = nil
    if let registration { loop.unregister(registration) }
    registration = nil
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
