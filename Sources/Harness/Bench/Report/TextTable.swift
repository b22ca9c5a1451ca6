/// Rows in columns that line up; the first column is to the left, all others to the right.
package struct TextTable: Sendable {
  private var rows: [[String]]

  package init(titles: [String]) {
    rows = [titles]
  }

  package mutating func append(_ cells: [String]) {
    rows.append(cells)
  }

  package var lines: [String] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + padding : padding + cell
      }.joined(separator: "  ")
    }
  }
}
