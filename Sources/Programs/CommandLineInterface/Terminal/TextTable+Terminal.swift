internal import ProgramSetup
internal import Typesetting

extension TextTable {
  /// The lines of the table. On a terminal the titles stand out and the last column is cut to its width; elsewhere
  /// nothing is lost.
  func lines(on terminal: Terminal) -> [String] {
    lines(columnsMax: terminal.isInteractive ? terminal.columns : nil) {
      TextStyle.bold.apply($0, on: terminal)
    }
  }
}
