import CLinux
import Glibc

/// A file descriptor that is closed when this value ends.
struct OpenDescriptor: ~Copyable {
  let number: CInt

  init(owning number: CInt) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// Hands the descriptor over without closing it.
  consuming func release() -> CInt {
    let number = self.number
    discard self
    return number
  }

  static func open(
    _ path: String, _ flags: CInt, mode: mode_t = 0o600
  ) throws(LocalServiceError) -> OpenDescriptor {
    let number = Glibc.open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw .system("cannot open \(path)") }
    return OpenDescriptor(owning: number)
  }

  /// A pipe's reading and writing end.
  static func pipe() throws(LocalServiceError) -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [-1, -1]
    guard clinux_pipe(&ends) == 0 else { throw .system("cannot make a pipe") }
    return (ends[0], ends[1])
  }
}
