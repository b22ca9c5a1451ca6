internal import CLinux
internal import Glibc

/// The receiver at the other end of standard output or standard error.
package struct Terminal: Sendable {
  package static let columnsDefault = 80
  package static let columnsMax = 160
  package static let rowsDefault = 24
  package static let rowsMax = 500

  /// A person's terminal, not a file or a pipe.
  package var isInteractive: Bool
  package var hasColour: Bool
  /// Whether it shows more than ASCII.
  package var isUnicode: Bool
  package var columns: Int
  package var rows: Int

  package init(
    isInteractive: Bool, hasColour: Bool = false, isUnicode: Bool = true,
    columns: Int = Self.columnsDefault, rows: Int = Self.rowsDefault
  ) {
    self.isInteractive = isInteractive
    self.hasColour = hasColour
    self.isUnicode = isUnicode
    self.columns = columns
    self.rows = rows
  }

  /// Looks at a descriptor and at the variables that people set: NO_COLOR (no-color.org), TERM, LANG.
  package init(descriptor: CInt, environment: [String: String] = Environment.variables) {
    let term = environment["TERM"] ?? ""
    isInteractive = isatty(descriptor) == 1 && term != "dumb"
    hasColour = isInteractive && (environment["NO_COLOR"] ?? "").isEmpty
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
      .first { !$0.isEmpty }
    isUnicode = (locale ?? "").lowercased().contains("utf")
    let size = Self.size(of: descriptor)
    columns = size.columns > 0 ? min(size.columns, Self.columnsMax) : Self.columnsDefault
    rows = size.rows > 0 ? min(size.rows, Self.rowsMax) : Self.rowsDefault
  }

  /// Whether this process has a controlling terminal, whose end is a SIGHUP (tty(4)).
  package static var isControlling: Bool {
    let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  /// Zeros where it is not known.
  private static func size(of descriptor: CInt) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (0, 0) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
