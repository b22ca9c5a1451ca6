import Glibc

/// The progress of a run, on standard error: one line that is replaced on a terminal, lines elsewhere.
package final class ProgressLine: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let isQuiet: Bool

  package init(isQuiet: Bool = false) {
    self.isQuiet = isQuiet
  }

  package func say(_ text: String) {
    write(isTerminal ? "\r\u{1b}[K\(text)" : text + "\n")
  }

  /// For what changes quickly: nothing is said of it in a log.
  package func tick(_ text: String) {
    if isTerminal { say(text) }
  }

  /// A line that stays.
  package func note(_ text: String) {
    write((isTerminal ? "\r\u{1b}[K" : "") + text + "\n")
  }

  package func end() {
    if isTerminal { write("\r\u{1b}[K") }
  }

  private func write(_ text: String) {
    guard !isQuiet else { return }
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
