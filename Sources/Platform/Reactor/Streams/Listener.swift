internal import CLinux
internal import Glibc

/// A listening socket; loop-bound. Accepted descriptors are non-blocking and belong to the callee.
package final class Listener {
  private let loop: EventLoop
  private var descriptor: Descriptor?
  /// The descriptor's number, while it is open.
  private let number: CInt
  private let onAccept: (CInt) -> Void
  private var registration: RegistrationTable.Place?
  private var retryTimer: LoopTimer!
  /// The TCP port, also when 0 was asked for; 0 for a unix socket.
  package let port: UInt16

  package init(
    loop: EventLoop, endpoint: Endpoint, onAccept: @escaping (CInt) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.onAccept = onAccept
    let address = try Self.address(of: endpoint)
    let descriptor = try Descriptor(
      socket(
        address.family,
        CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0),
      "socket")
    let number = descriptor.raw
    var one: CInt = 1
    setsockopt(
      number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
    guard address.withPointer({ bind(number, $0, $1) }) == 0 else {
      throw SystemError("bind \(endpoint)", errno: errno)
    }
    guard listen(number, 1024) == 0 else {
      throw SystemError("listen \(endpoint)", errno: errno)
    }
    port = Self.boundPort(number)
    self.number = number
    self.descriptor = consume descriptor
    retryTimer = LoopTimer(loop: loop) { [weak self] in self?.acceptAll() }
    registration = try loop.register(number, for: .input, handler: self)
  }

  /// Stops listening. Safe to call twice.
  package func close() {
    if let registration { loop.unregister(registration) }
    registration = nil
    retryTimer.cancel()
    descriptor = nil
  }

  private static func address(of endpoint: Endpoint) throws(SystemError) -> SocketAddress {
    switch endpoint {
    case .unix(let path): return try SocketAddress(unixPath: path)
    case .tcp(let host, let port):
      let found = SocketAddress.lookUp(
        host: host, port: port, numericOnly: true, forListening: true)
      guard case .success(let addresses) = found, let first = addresses.first else {
        throw SystemError("listen on \(endpoint): not an address", errno: EADDRNOTAVAIL)
      }
      return first
    }
  }

  /// The port that a TCP socket is bound to here; 0 for any other.
  package static func boundPort(_ descriptor: CInt) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(descriptor, $0, &length)
      }
      switch CInt(pointer.pointee.ss_family) {
      case AF_INET:
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          UInt16(bigEndian: $0.pointee.sin_port)
        }
      case AF_INET6:
        return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          UInt16(bigEndian: $0.pointee.sin6_port)
        }
      default: return 0
      }
    }
  }
}

extension Listener: ReadinessHandler {
  func ready(_ readiness: Readiness) { acceptAll() }

  private func acceptAll() {
    while registration != nil {
      let accepted = clinux_accept(number)
      let code = errno
      if accepted >= 0 {
        onAccept(accepted)
        continue
      }
      switch code {
      case EINTR, ECONNABORTED: continue
      case EAGAIN: return
      default:
        // Out of descriptors or memory: no edge will tell when there are some again.
        return retryTimer.schedule(afterMs: ReactorLimits.acceptPauseMs)
      }
    }
  }
}
