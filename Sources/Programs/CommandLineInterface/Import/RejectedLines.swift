internal import Glibc
internal import ProgramSetup
internal import Typesetting

/// The lines that an import refused: into a file, or the first of them to standard error.
final class RejectedLines {
  private let file: String?
  private let descriptor: CInt?
  private let noun: String
  private let shownMax: Int
  private(set) var count = 0
  private let display: ProgressDisplay
  private let console: Console

  /// - Parameters:
  ///   - noun: what the input consists of.
  ///   - shownMax: how many are repeated on standard error when there is no file.
  init(
    file: String?, input: ImportInput, noun: String = "line",
    shownMax: Int = CommandLineLimits.rejectsShownMax, display: ProgressDisplay, console: Console
  ) throws(CommandFailure) {
    self.noun = noun
    self.shownMax = shownMax
    self.file = file
    self.display = display
    self.console = console
    guard let file else {
      descriptor = nil
      return
    }
    let opened = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    descriptor = opened >= 0 ? opened : nil
    guard let descriptor else { throw failure(errno) }
    if let status = FileStatus(descriptor: descriptor) {
      try input.check(isNot: status, option: "--rejects")
    }
  }

  deinit { if let descriptor { close(descriptor) } }

  /// Refuses a position that would replace these lines.
  func check(isNot position: PositionFile) throws(CommandFailure) {
    guard let descriptor, let own = FileStatus(descriptor: descriptor),
      let other = FileStatus(path: position.path), own.isSameFile(as: other)
    else { return }
    throw CommandFailure(
      .usage, "--rejects names the file that keeps the position: name another")
  }

  /// - Throws: when the line cannot be written down.
  func add(line: Int, reason: String) throws(CommandFailure) {
    count += 1
    let text = "\(noun) \(line): \(DisplayText.printable(reason))"
    if let descriptor {
      try write(Array("\(text)\n".utf8), to: descriptor)
    } else if count <= shownMax {
      display.clear()
      console.note(text)
    } else if shownMax > 0, count == shownMax + 1 {
      display.clear()
      console.note("further refused lines are only counted; --rejects FILE keeps them all")
    }
  }

  private func write(_ bytes: [UInt8], to descriptor: CInt) throws(CommandFailure) {
    let problem = bytes.withUnsafeBytes { OutputFile.write($0, to: descriptor) }
    if let problem { throw failure(problem) }
  }

  private func failure(_ problem: CInt) -> CommandFailure {
    CommandFailure(
      .outputError,
      "--rejects \(file ?? "") cannot be written: \(String(cString: strerror(problem)))")
  }
}
