import Glibc

/// A TCP port of 127.0.0.1 that was free a moment ago, for servers that cannot choose one themselves.
///
/// The port is none of those that the system gives to outgoing connections (`ip_local_port_range`): one of these may be somebody's, or
/// the very connection that looks for the server, when a server that was ended begins anew at its port. Nor is the port 10,000 above it,
/// where a node of a Redis Cluster hears the others.
package enum FreePort {
  private static let first: UInt16 = 10_000
  private static let clusterOffset: UInt16 = 10_000
  private static let triesMax = 100

  /// Returns a port that nobody listens on, by chance, so that programs that look for one at once hardly meet.
  package static func find() throws(LocalServiceError) -> UInt16 {
    for _ in 0..<triesMax {
      let port = UInt16.random(in: first..<firstOutgoing - clusterOffset)
      if try isFree(port) { return port }
    }
    throw LocalServiceError("no port of 127.0.0.1 is free: \(triesMax) were tried")
  }

  /// The first port that the system gives to outgoing connections.
  private static let firstOutgoing: UInt16 = {
    let range = TextFile.read("/proc/sys/net/ipv4/ip_local_port_range", bytesMax: 100)
    let word = range?.split(whereSeparator: \.isWhitespace).first
    // As Linux has it when nobody has said otherwise.
    guard let port = word.flatMap({ UInt16($0) }), port > first + clusterOffset else {
      return 32_768
    }
    return port
  }()

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
