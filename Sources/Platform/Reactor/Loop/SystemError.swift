internal import Glibc

/// A system call that failed, with what the kernel said.
package struct SystemError: Error, CustomStringConvertible, Equatable {
  /// The call and what it was for, such as `connect /run/redis.sock`.
  package let call: String
  package let errno: CInt

  package init(_ call: String, errno: CInt) {
    self.call = call
    self.errno = errno
  }

  /// Whether the process (RLIMIT_NOFILE) or the machine has no file descriptor left.
  package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }

  package var description: String { "\(call): \(String(cString: strerror(errno)))" }
}
