internal import CLinux
internal import Glibc

/// One address that connect(2) and bind(2) take.
struct SocketAddress: Sendable {
  private var storage = sockaddr_storage()
  private var length: socklen_t

  var family: CInt { CInt(storage.ss_family) }

  init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
    self.length = length
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
    }
  }

  /// - Throws: ENAMETOOLONG for a path over the 107 bytes that Linux has room for (unix(7)).
  init(unixPath path: String) throws(SystemError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard bytes.count < room.count else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard fits else { throw SystemError("unix socket \(path)", errno: ENAMETOOLONG) }
    length = socklen_t(MemoryLayout<sockaddr_un>.size)
    withUnsafeMutableBytes(of: &storage) { target in
      withUnsafeBytes(of: address) { target.copyMemory(from: $0) }
    }
  }

  /// Returns the host's address at another port.
  func with(port: UInt16) -> SocketAddress {
    var changed = self
    withUnsafeMutablePointer(to: &changed.storage) { pointer in
      switch family {
      case AF_INET:
        pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          $0.pointee.sin_port = port.bigEndian
        }
      case AF_INET6:
        pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          $0.pointee.sin6_port = port.bigEndian
        }
      default: break
      }
    }
    return changed
  }

  /// Whether a look-up failed for want of a descriptor, which getaddrinfo(3) calls by other names.
  private static func outOfDescriptors(_ host: String) -> SystemError? {
    let probe = eventfd(0, CInt(EFD_CLOEXEC))
    guard probe < 0 else {
      close(probe)
      return nil
    }
    let error = SystemError("look up \(host)", errno: errno)
    return error.isOutOfDescriptors ? error : nil
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// The addresses of a host, by getaddrinfo(3); it may block unless `numericOnly`.
  static func lookUp(
    host: String, port: UInt16, numericOnly: Bool, forListening: Bool = false
  ) -> Result<[SocketAddress], StreamFailure> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : AI_ADDRCONFIG)
    if forListening { hints.ai_flags |= AI_PASSIVE }
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      if let error = outOfDescriptors(host) { return .failure(.system(error)) }
      return .failure(.resolve(host: host, reason: String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next, addresses.count < ReactorLimits.addressesMax {
      if let address = entry.pointee.ai_addr {
        addresses.append(SocketAddress(address, length: entry.pointee.ai_addrlen))
      }
      next = entry.pointee.ai_next
    }
    return .success(addresses)
  }
}

extension SocketAddress: CustomStringConvertible {
  /// The address itself in network order: 4 or 16 bytes; none of a unix socket.
  var octets: [UInt8] {
    // Behind family and port, and in IPv6 the flow (netinet/in.h).
    withBytes { bytes in
      switch family {
      case AF_INET: Array(bytes[4..<8])
      case AF_INET6: Array(bytes[8..<24])
      default: []
      }
    }
  }

  /// The port; 0 of a unix socket.
  var port: UInt16 {
    withBytes { octets.isEmpty ? 0 : UInt16($0[2]) << 8 | UInt16($0[3]) }
  }

  /// The address with its port, for instance `[::1]:443`.
  var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    inet_ntop(family, octets, &text, socklen_t(text.count))
    let digits = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return "\(Endpoint.tcp(host: String(decoding: digits, as: UTF8.self), port: port))"
  }
}

extension SocketAddress: Hashable {
  static func == (one: SocketAddress, other: SocketAddress) -> Bool {
    one.withBytes { bytes in other.withBytes { bytes.elementsEqual($0) } }
  }

  func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: $0) }
  }

  fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(length)))) }
  }
}
