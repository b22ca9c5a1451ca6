internal import Glibc

/// The lines that an import refused: into a file, or the first of them to standard error.
final class RejectedLines {
  private let descriptor: CInt?
  private(set) var count = 0
  private let display: ProgressDisplay
  private let console: Console

  init(
    file: String?, display: ProgressDisplay, console: Console
  ) throws(CommandFailure) {
    self.display = display
    self.console = console
    guard let file else {
      descriptor = nil
      return
    }
    let opened = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard opened >= 0 else {
      throw CommandFailure(
        .badInput, "--rejects \(file) cannot be written: \(String(cString: strerror(errno)))")
    }
    descriptor = opened
  }

  deinit { if let descriptor { close(descriptor) } }

  func add(line: Int, reason: String) {
    count += 1
    let text = "line \(line): \(DisplayText.printable(reason))"
    if let descriptor {
      var line = text + "\n"
      line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    } else if count <= CommandLineLimits.rejectsShownMax {
      display.clear()
      console.note(text)
    } else if count == CommandLineLimits.rejectsShownMax + 1 {
      display.clear()
      console.note("further refused lines are only counted; --rejects FILE keeps them all")
    }
  }
}
