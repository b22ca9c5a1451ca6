import Typesetting

/// One line that says how far a piece of work is. A value: it does not know where it is shown.
struct ProgressBar {
  var label: String
  /// nil when nobody knows how much there is.
  var total: Int?

  private static let barColumnsMax = 30
  private static let barColumnsMin = 8
  /// A rate out of less time than this says nothing.
  private static let rateMsMin: Int64 = 500

  /// `importing  [██████░░░░]  62 %  6,200/10,000  24,000/s  0:05 left`, never wider than `columns`: the bar
  /// shrinks first, then what is least needed goes.
  /// - Parameter count: what is counted for people when `done` and `total` are something else, such as bytes.
  func line(
    done: Int, count: Int? = nil, elapsedMs: Int64, columns: Int, isUnicode: Bool = true
  ) -> String {
    var parts = [label] + figures(done: done, count: count, elapsedMs: elapsedMs)
    while parts.count > 2, Self.columns(parts) > columns { parts.removeLast() }
    guard let total, total > 0 else {
      return DisplayText.fitted(Self.joined(parts), columns: columns)
    }
    let room = columns - Self.columns(parts) - 4
    if room >= Self.barColumnsMin {
      let width = min(room, Self.barColumnsMax)
      parts.insert(Self.bar(done: done, total: total, columns: width, isUnicode: isUnicode), at: 1)
    }
    return DisplayText.fitted(Self.joined(parts), columns: columns)
  }

  /// In the order of need.
  private func figures(done: Int, count: Int?, elapsedMs: Int64) -> [String] {
    var figures: [String] = []
    if let total, total > 0 {
      let percent = "\(min(max(done, 0), total) * 100 / total)"
      figures.append(String(repeating: " ", count: 3 - percent.count) + percent + " %")
    }
    if let total, total > 0, count == nil {
      figures.append("\(FigureText.count(done))/\(FigureText.count(total))")
    } else {
      figures.append(FigureText.count(count ?? done))
    }
    guard elapsedMs >= Self.rateMsMin, done > 0 else { return figures }
    let perSecond = Double(count ?? done) * 1_000 / Double(elapsedMs)
    figures.append("\(FigureText.count(Int(perSecond)))/s")
    if let total, total > done {
      let seconds = Int(
        min(
          (Double(total - done) * Double(elapsedMs) / 1_000 / Double(done)).rounded(.up), 1e9))
      figures.append("\(FigureText.clock(seconds: seconds)) left")
    } else {
      figures.append(FigureText.clock(seconds: Int(elapsedMs / 1_000)))
    }
    return figures
  }

  private static func bar(done: Int, total: Int, columns: Int, isUnicode: Bool) -> String {
    let filled = min(max(done, 0), total) * columns / total
    let (full, empty) = isUnicode ? ("█", "░") : ("#", ".")
    return "[" + String(repeating: full, count: filled)
      + String(repeating: empty, count: columns - filled) + "]"
  }

  private static func joined(_ parts: [String]) -> String { parts.joined(separator: "  ") }

  private static func columns(_ parts: [String]) -> Int { DisplayText.columns(joined(parts)) }
}
