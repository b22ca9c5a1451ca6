internal import Glibc

/// An owned file descriptor: closed exactly once, when its owner lets go of it.
struct Descriptor: ~Copyable {
  let raw: CInt

  /// Takes ownership of what a system call returned.
  /// - Throws: the call's error when it returned a negative number.
  init(_ raw: CInt, _ call: String) throws(SystemError) {
    guard raw >= 0 else { throw SystemError(call, errno: errno) }
    self.raw = raw
  }

  init(owning raw: CInt) {
    self.raw = raw
  }

  deinit { close(raw) }
}
