/// Rows in columns that line up, for a person to read.
package struct TextTable: Sendable {
  package enum Alignment: Sendable { case left, right }

  package struct Column: Sendable {
    package var title: String
    package var alignment: Alignment

    package init(_ title: String, _ alignment: Alignment = .left) {
      self.title = title
      self.alignment = alignment
    }
  }

  private let columns: [Column]
  private var rows: [[String]] = []
  private static let gap = "  "

  package init(_ columns: [Column]) { self.columns = columns }

  /// A table of figures: the first column is to the left, all others to the right.
  package init(titles: [String]) {
    columns = titles.enumerated().map { Column($1, $0 == 0 ? .left : .right) }
  }

  package var isEmpty: Bool { rows.isEmpty }

  /// A row with a cell for each column; missing ones are empty.
  package mutating func append(_ cells: [String]) {
    rows.append(
      (0..<columns.count).map { $0 < cells.count ? DisplayText.printable(cells[$0]) : "" })
  }

  /// The lines of the table. Titles are left out when all are empty.
  /// - Parameters:
  ///   - columnsMax: how wide a line may be, which cuts the last column; nil loses nothing.
  ///   - emphasis: what is done to the line of the titles.
  package func lines(
    columnsMax: Int? = nil, emphasis: (String) -> String = { $0 }
  ) -> [String] {
    var widths = columns.map { DisplayText.columns($0.title) }
    for row in rows {
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], DisplayText.columns(cell))
      }
    }
    if let columnsMax, let last = widths.indices.last {
      let before = widths.dropLast().reduce(0) { $0 + $1 + Self.gap.count }
      widths[last] = min(widths[last], max(columnsMax - before, 8))
    }
    var lines: [String] = []
    if columns.contains(where: { !$0.title.isEmpty }) {
      lines.append(emphasis(line(columns.map(\.title), widths: widths)))
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
