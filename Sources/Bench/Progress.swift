import Glibc

/// What the benchmark is doing, on standard error: one line that is replaced on a terminal, lines elsewhere.
final class Progress: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func say(_ text: String) {
    write(isTerminal ? "\r\u{1b}[K\(text)" : text + "\n")
  }

  /// For what changes quickly: nothing is said of it in a log.
  func tick(_ text: String) {
    if isTerminal { say(text) }
  }

  /// A line that stays.
  func note(_ text: String) {
    write((isTerminal ? "\r\u{1b}[K" : "") + text + "\n")
  }

  func end() {
    if isTerminal { write("\r\u{1b}[K") }
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
