internal import Glibc
internal import Model

/// Where a command writes: results to standard output, all else to standard error.
struct Console: Sendable {
  static let standard = Console(
    output: Terminal(descriptor: STDOUT_FILENO), error: Terminal(descriptor: STDERR_FILENO))

  let output: Terminal
  let error: Terminal

  /// A line of the result.
  func print(_ line: String = "") { write(line + "\n", to: STDOUT_FILENO) }

  /// The result for programs: one line of JSON.
  func print(json: JSONValue) {
    write(json.text() + "\n", to: STDOUT_FILENO)
  }

  /// A remark beside the result.
  func note(_ line: String) { writeError(line + "\n") }

  func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

  private func write(_ text: String, to descriptor: CInt) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EPIPE, descriptor == STDOUT_FILENO {
          // `pushpool dead list | head`: nobody reads on, which is no failure.
          exit(ExitStatus.ok.rawValue)
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}
