import Model
import Typesetting

/// A run beside an earlier one's JSON.
package struct Comparison: Sendable {
  /// A ratio that grew by more than this part is worse; below it is the machine's mood.
  package static let tolerance = 0.1

  struct Row: Sendable {
    var name: String
    var old: [Double?]
    var new: [Double?]
    /// Change of the ratio as a part of the old one; nil when one of the runs has none.
    var change: Double?
  }

  let rows: [Row]

  private static let members = ["worker_cpu_us_per_push", "pushes_per_second", "ratio"]

  /// - Parameter json: what `--json` wrote.
  package init(old json: [UInt8], new report: Report) throws(BenchError) {
    guard let value = try? JSONParser().parse(json),
      let scenarios = value.objectValue?["scenarios"]?.arrayValue
    else { throw BenchError("--compare takes a file that --json has written; this is none") }
    rows = report.results.compactMap { result in
      guard
        let object = scenarios.lazy.compactMap(\.objectValue)
          .first(where: { $0["scenario"]?.stringValue == result.name })
      else { return nil }
      let old = Self.members.map { name -> Double? in
        if case .number(let number)? = object[name] { number.double } else { nil }
      }
      let new = [result.workerMicroseconds, result.pushesPerSecond, result.ratio]
      var change: Double?
      if let before = old[2], let now = result.ratio, before > 0 { change = now / before - 1 }
      return Row(name: result.name, old: old, new: new, change: change)
    }
  }

  package var isWorse: Bool { rows.contains { ($0.change ?? 0) > Self.tolerance } }

  package var text: String {
    var table = TextTable(titles: [
      "compared", "worker µs, then", "now", "pushes/s, then", "now", "ratio, then", "now", "change",
      "",
    ])
    for row in rows {
      var cells = [row.name]
      for (index, decimals) in [2, 0, 2].enumerated() {
        cells.append(Figure.text(row.old[index] ?? .nan, decimals: decimals))
        cells.append(Figure.text(row.new[index] ?? .nan, decimals: decimals))
      }
      let percent = (row.change ?? .nan) * 100
      cells.append((percent > 0 ? "+" : "") + Figure.text(percent, decimals: 1) + " %")
      cells.append(percent > Self.tolerance * 100 ? "WORSE" : "")
      table.append(cells)
    }
    return table.lines().joined(separator: "\n") + "\n"
  }
}
