internal import COpenSSL
internal import Glibc

/// A certificate, key or CA file that cannot be used; the message names the file, never its content.
package struct TLSError: Error, Equatable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) {
    self.message = message
  }

  package var description: String { message }

  /// Adds what OpenSSL has to say, and empties its error queue.
  static func fromQueue(_ message: String) -> TLSError {
    TLSError("\(message): \(reasonFromQueue())")
  }

  /// The reason of OpenSSL's latest error on this thread.
  static func reasonFromQueue() -> String {
    var latest: UInt = 0
    var lacksMemory = errno == ENOMEM
    while case let code = ERR_get_error(), code != 0 {
      latest = code
      // `ERR_R_MALLOC_FAILURE`, and what the system said (openssl/err.h).
      let reason = ERR_reason_error_string(code).map { String(cString: $0) }
      lacksMemory = lacksMemory || reason == "malloc failure" || reason == "Cannot allocate memory"
    }
    if lacksMemory {
      return "there is no memory for it: allow more (ulimit -v, systemd's LimitAS=, MemoryMax=)"
    }
    guard latest != 0, let reason = ERR_reason_error_string(latest) else {
      return "no reason given"
    }
    return String(cString: reason)
  }
}
