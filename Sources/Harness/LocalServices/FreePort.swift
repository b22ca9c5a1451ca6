import Glibc

/// A TCP port that was free a moment ago, for servers that cannot choose one themselves. The caller
/// must try again with another when it is taken by then.
package enum FreePort {
  package static func find() throws(LocalServiceError) -> UInt16 {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw .system("cannot open a socket") }
    let descriptor = OpenDescriptor(owning: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor.number, $0, length) == 0 && getsockname(descriptor.number, $0, &length) == 0
      }
    }
    guard found else { throw .system("cannot find a free port on 127.0.0.1") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Whether nobody listens on a port of 127.0.0.1.
  package static func isFree(_ port: UInt16) throws(LocalServiceError) -> Bool {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw .system("cannot open a socket") }
    let descriptor = OpenDescriptor(owning: number)
    // As servers do: what is left of connections that have ended is in nobody's way.
    var reuses: CInt = 1
    setsockopt(
      descriptor.number, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
          || errno != EADDRINUSE
      }
    }
  }
}
