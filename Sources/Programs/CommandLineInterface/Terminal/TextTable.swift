/// Rows in columns that line up, for a person to read.
struct TextTable {
  enum Alignment: Sendable { case left, right }

  struct Column: Sendable {
    var title: String
    var alignment: Alignment

    init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  private let columns: [Column]
  private var rows: [[String]] = []
  private static let gap = "  "

  init(_ columns: [Column]) { self.columns = columns }

  var isEmpty: Bool { rows.isEmpty }

  /// A row with a cell for each column; missing ones are empty.
  mutating func append(_ cells: [String]) {
    rows.append(
      (0..<columns.count).map { $0 < cells.count ? DisplayText.printable(cells[$0]) : "" })
  }

  /// The lines of the table. Titles are left out when all are empty; on a terminal the last column is cut to
  /// its width, elsewhere nothing is lost.
  func lines(on terminal: Terminal) -> [String] {
    var widths = columns.map { DisplayText.columns($0.title) }
    for row in rows {
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], DisplayText.columns(cell))
      }
    }
    if terminal.isInteractive, let last = widths.indices.last {
      let before = widths.dropLast().reduce(0) { $0 + $1 + Self.gap.count }
      widths[last] = min(widths[last], max(terminal.columns - before, 8))
    }
    var lines: [String] = []
    if columns.contains(where: { !$0.title.isEmpty }) {
      lines.append(
        TextStyle.bold.apply(line(columns.map(\.title), widths: widths), on: terminal))
    }
    return lines + rows.map { line($0, widths: widths) }
  }

  private func line(_ cells: [String], widths: [Int]) -> String {
    var text = ""
    for (index, cell) in cells.enumerated() {
      let isLast = index == cells.count - 1
      let shown = DisplayText.fitted(cell, columns: widths[index])
      let padding = String(repeating: " ", count: widths[index] - DisplayText.columns(shown))
      switch columns[index].alignment {
      case .left: text += isLast ? shown : shown + padding + Self.gap
      case .right: text += padding + shown + (isLast ? "" : Self.gap)
      }
    }
    while text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
