internal import Glibc
package import Model
package import ProgramSetup
internal import Typesetting

/// Where a command writes: results to standard output, all else to standard error. It is the one door to the terminal: much
/// of what goes through it was written by others.
package struct Console: Sendable {
  package static let standard = Console(
    output: Terminal(descriptor: STDOUT_FILENO), error: Terminal(descriptor: STDERR_FILENO))

  /// The meaning of the fact that nobody reads standard output any more.
  enum BrokenPipe: Sendable {
    /// `pushpool dead list | head`: the reader has enough, and the command ends well.
    case endsWell
    /// The command's work is elsewhere: it goes on, and its exit status says what came of it.
    case isIgnored
    /// Only the whole result is one: the command ends with `.outputError` and this sentence.
    case fails(String)
  }

  package let output: Terminal
  let error: Terminal
  private(set) var brokenPipe = BrokenPipe.endsWell

  func with(_ brokenPipe: BrokenPipe) -> Console {
    var console = self
    console.brokenPipe = brokenPipe
    return console
  }

  /// A line of the result. Of what it holds nothing but the emphasis that this terminal has reaches it as it is.
  package func print(_ line: String = "") {
    write(TextStyle.printable(line, on: output) + "\n", to: STDOUT_FILENO)
  }

  /// Lines of the program's own, such as its help.
  package func print(text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      print(String(line))
    }
  }

  /// Lines for programs, in one write.
  func print(block text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      TextStyle.printable(String($0), on: output)
    }
    write(lines.joined(separator: "\n"), to: STDOUT_FILENO)
  }

  /// The result for programs: one line of JSON.
  package func print(json: JSONValue) { print(jsonLines: [json]) }

  /// Prints several results for programs, in one write.
  func print(jsonLines values: [JSONValue]) {
    let lines = values.map { DisplayText.printable(json: $0.text()) + "\n" }
    write(lines.joined(), to: STDOUT_FILENO)
  }

  /// A remark beside the result.
  package func note(_ line: String) { writeError(DisplayText.printable(line) + "\n") }

  /// Remarks of several lines.
  package func note(text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      note(String(line))
    }
  }

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
