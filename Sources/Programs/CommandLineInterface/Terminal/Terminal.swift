internal import CLinux
internal import Glibc
internal import Typesetting

/// The receiver at the other end of standard output or standard error.
struct Terminal: Sendable {
  /// A person's terminal, not a file or a pipe.
  var isInteractive: Bool
  var hasColour: Bool
  /// Whether it shows more than ASCII.
  var isUnicode: Bool
  var columns: Int

  init(
    isInteractive: Bool, hasColour: Bool = false, isUnicode: Bool = true,
    columns: Int = CommandLineLimits.columnsDefault
  ) {
    self.isInteractive = isInteractive
    self.hasColour = hasColour
    self.isUnicode = isUnicode
    self.columns = columns
  }

  /// Looks at a descriptor and at the variables that people set: NO_COLOR (no-color.org), TERM, LANG.
  init(descriptor: CInt, environment: [String: String] = Environment.variables) {
    let term = environment["TERM"] ?? ""
    isInteractive = isatty(descriptor) == 1 && term != "dumb"
    hasColour = isInteractive && (environment["NO_COLOR"] ?? "").isEmpty
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
      .first { !$0.isEmpty }
    isUnicode = (locale ?? "").lowercased().contains("utf")
    columns = Self.columns(of: descriptor)
  }

  private static func columns(of descriptor: CInt) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return CommandLineLimits.columnsDefault
    }
    return min(Int(size.ws_col), CommandLineLimits.columnsMax)
  }
}

extension TextTable {
  /// The lines of the table. On a terminal the titles stand out and the last column is cut to its width; elsewhere
  /// nothing is lost.
  func lines(on terminal: Terminal) -> [String] {
    lines(columnsMax: terminal.isInteractive ? terminal.columns : nil) {
      TextStyle.bold.apply($0, on: terminal)
    }
  }
}
