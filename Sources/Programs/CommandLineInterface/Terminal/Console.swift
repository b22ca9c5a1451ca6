internal import Glibc
internal import Model

/// Where a command writes: results to standard output, all else to standard error.
struct Console: Sendable {
  static let standard = Console(
    output: Terminal(descriptor: STDOUT_FILENO), error: Terminal(descriptor: STDERR_FILENO))

  /// What it means that nobody reads standard output any more.
  enum BrokenPipe: Sendable {
    /// `pushpool dead list | head`: the reader has enough, and the command ends well.
    case endsWell
    /// The command's work is elsewhere: it goes on, and its exit status says what came of it.
    case isIgnored
    /// Only the whole result is one: the command ends with `.outputError` and this sentence.
    case fails(String)
  }

  let output: Terminal
  let error: Terminal
  private(set) var brokenPipe = BrokenPipe.endsWell

  func with(_ brokenPipe: BrokenPipe) -> Console {
    var console = self
    console.brokenPipe = brokenPipe
    return console
  }

  /// A line of the result.
  func print(_ line: String = "") { write(line + "\n", to: STDOUT_FILENO) }

  /// The result for programs: one line of JSON.
  func print(json: JSONValue) {
    write(json.text() + "\n", to: STDOUT_FILENO)
  }

  /// A remark beside the result.
  func note(_ line: String) { writeError(line + "\n") }

  func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

  /// Says that the results so far have been kept by what is behind standard output. Some file systems tell only as a file
  /// is closed that it did not fit.
  func finish() {
    guard close(STDOUT_FILENO) != 0, errno != EBADF else { return }
    fail(errno)
  }

  private func write(_ text: String, to descriptor: CInt) {
    var text = text
    let failure = text.withUTF8 { OutputFile.write(UnsafeRawBufferPointer($0), to: descriptor) }
    // Standard error has nobody left to tell.
    guard let failure, descriptor == STDOUT_FILENO else { return }
    guard failure == EPIPE else { fail(failure) }
    switch brokenPipe {
    case .endsWell: exit(ExitStatus.ok.rawValue)
    case .isIgnored: return
    case .fails(let sentence):
      note("pushpool: \(sentence)")
      exit(ExitStatus.outputError.rawValue)
    }
  }

  /// A result that nobody got is no result: what comes after this command may rely on it.
  private func fail(_ number: CInt) -> Never {
    note("pushpool: cannot write the result: \(String(cString: strerror(number)))")
    exit(ExitStatus.outputError.rawValue)
  }
}
