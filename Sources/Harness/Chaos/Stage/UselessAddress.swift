import Glibc

/// An address of this machine that is of no use to whoever connects to it.
final class UselessAddress {
  enum Kind: CaseIterable {
    /// Nobody listens.
    case refusing
    /// Nothing comes back: a SYN is dropped.
    case dead
    /// Connections are accepted, and nothing is ever said.
    case silent
  }

  private var descriptors: [CInt] = []

  /// - Parameter address: in dotted form.
  init(_ kind: Kind, address: String, port: UInt16) throws(ChaosError) {
    guard kind != .refusing else { return }
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    target.sin_addr.s_addr = inet_addr(address)
    let listener = try descriptor()
    // What nobody accepts stays in the backlog; one of 0 has room for one, and drops what comes then.
    let backlog: CInt = kind == .dead ? 0 : 1_024
    guard Self.call(bind, listener, target) == 0, listen(listener, backlog) == 0 else {
      throw ChaosError("cannot listen on \(address):\(port): \(String(cString: strerror(errno)))")
    }
    if kind == .dead { _ = Self.call(connect, try descriptor(), target) }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private func descriptor() throws(ChaosError) -> CInt {
    let descriptor = socket(
      AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ChaosError("no socket") }
    descriptors.append(descriptor)
    return descriptor
  }

  private static func call(
    _ function: (CInt, UnsafePointer<sockaddr>?, socklen_t) -> CInt, _ descriptor: CInt,
    _ address: sockaddr_in
  ) -> CInt {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
