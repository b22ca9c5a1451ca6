import Glibc

@testable import Reactor

/// Takes no more connections: a SYN to it is dropped, as by a dead address.
final class FullListener {
  let address: String
  private var descriptors: [CInt] = []

  init(address: String, port: UInt16) throws {
    self.address = address
    let target = try SocketAddress.lookUp(host: address, port: port, numericOnly: true).get()[0]
    let listener = try Self.socket(&descriptors)
    guard target.withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
      throw SystemError("listen on \(address)", errno: errno)
    }
    // A backlog of 0 has room for one that nobody accepts.
    let guest = try Self.socket(&descriptors)
    _ = target.withPointer { connect(guest, $0, $1) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private static func socket(_ descriptors: inout [CInt]) throws(SystemError) -> CInt {
    let descriptor = Glibc.socket(
      AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket", errno: errno) }
    descriptors.append(descriptor)
    return descriptor
  }
}
