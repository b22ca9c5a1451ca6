internal import Glibc

/// One socket on its way to being an open connection: TCP first, then TLS where it is asked for; loop-bound.
final class ConnectCandidate {
  /// How far it has come.
  enum Phase {
    case connecting, handshaking, open
    case failed(StreamFailure)
  }

  /// nil for an accepted socket.
  let address: SocketAddress?
  private(set) var phase = Phase.connecting
  private(set) var descriptor: CInt
  private var registration: RegistrationTable.Place?
  private var tls: TLSSession?
  private let loop: EventLoop

  /// Begins to connect.
  init(to address: SocketAddress, loop: EventLoop) throws(SystemError) {
    self.address = address
    self.loop = loop
    descriptor = socket(
      address.family,
      CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket", errno: errno) }
    disableDelay()
    let result = address.withPointer { Glibc.connect(descriptor, $0, $1) }
    let code = errno
    guard result == 0 || code == EINPROGRESS else { throw SystemError("connect", errno: code) }
  }

  /// Takes over an accepted socket.
  init(accepted descriptor: CInt, loop: EventLoop) {
    address = nil
    self.loop = loop
    self.descriptor = descriptor
    disableDelay()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// A unix socket is connected at once, and an accepted one is already; epoll reports both writable.
  func watch(with handler: any ReadinessHandler) throws(SystemError) {
    registration = try loop.register(descriptor, for: [.input, .writable], handler: handler)
  }

  /// Goes on with what became possible.
  func advance(_ readiness: Readiness, context: TLSContext?, serverName: String?) {
    switch phase {
    case .connecting:
      guard !readiness.isDisjoint(with: [.writable, .hangUp, .failed]) else { return }
      let code = socketError()
      guard code == 0 else { return phase = .failed(.system(SystemError("connect", errno: code))) }
      guard let context else { return phase = .open }
      do throws(TLSError) {
        tls = try TLSSession(context: context, descriptor: descriptor, serverName: serverName)
      } catch { return phase = .failed(.tls(error.message)) }
      phase = .handshaking
      handshake()
    case .handshaking: handshake()
    case .open, .failed: return
    }
  }

  private func handshake() {
    switch tls!.handshake() {
    case .bytes: phase = .open
    case .wantsRead, .wantsWrite: return
    case .closed: phase = .failed(.truncated)
    case .failed(let failure): phase = .failed(failure)
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
    tls = nil
    if let registration { loop.unregister(registration) }
    registration = nil
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
