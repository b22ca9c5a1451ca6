import CLinux
import Glibc

/// One connection, one question: whether a redis-server answers at a Unix socket, and what a Sentinel says at a port.
enum RedisProbe {
  /// Local and idle, it answers within microseconds; while it loads its data it answers -LOADING. It is asked again
  /// soon, and whoever asks holds up a thread that others need.
  private static let answerMsMax = 50

  static func answers(socketPath: String, password: String?) -> Bool {
    let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return false }
    let descriptor = OpenDescriptor(owning: number)
    guard connect(descriptor, to: socketPath) else { return false }
    return ask(descriptor, "PING", password: password) == "+PONG\r\n"
  }

  /// The beginning of the answer to a command at a port of 127.0.0.1; empty when there is none in time.
  static func answer(port: UInt16, to command: String, password: String?) -> String {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return "" }
    let descriptor = OpenDescriptor(owning: number)
    guard connect(descriptor, to: port) else { return "" }
    return ask(descriptor, command, password: password)
  }

  private static func ask(
    _ descriptor: borrowing OpenDescriptor, _ command: String, password: String?
  ) -> String {
    var patience = timeval(tv_sec: 0, tv_usec: answerMsMax * 1000)
    setsockopt(
      descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    if let password {
      guard exchange(descriptor, "AUTH \"\(password)\"\r\n") == "+OK\r\n" else { return "" }
    }
    return exchange(descriptor, "\(command)\r\n")
  }

  private static func connect(_ descriptor: borrowing OpenDescriptor, to port: UInt16) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    let number = descriptor.number
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func connect(_ descriptor: borrowing OpenDescriptor, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let number = descriptor.number
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  private static func exchange(_ descriptor: borrowing OpenDescriptor, _ command: String) -> String
  {
    let bytes = Array(command.utf8)
    guard send(descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    else { return "" }
    var answer = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor.number, &answer, answer.count, 0)
    return count > 0 ? String(decoding: answer[..<count], as: UTF8.self) : ""
  }
}
