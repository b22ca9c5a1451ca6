import Glibc

/// Why something on this machine could not be started, written or stopped: a sentence for a person.
package struct LocalServiceError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }

  /// A failed system call: what was attempted, on what, and the system's own words.
  static func system(_ attempt: String, errno number: CInt = errno) -> LocalServiceError {
    LocalServiceError("\(attempt): \(String(cString: strerror(number)))")
  }
}
