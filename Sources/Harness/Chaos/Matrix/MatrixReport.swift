import Model
import Typesetting

/// The results as a person reads them, and as JSON.
package struct MatrixReport: Sendable {
  package let seed: UInt64
  package let scale: Double
  package let results: [RowResult]

  package init(seed: UInt64, scale: Double, results: [RowResult]) {
    self.seed = seed
    self.scale = scale
    self.results = results
  }

  package var isPassed: Bool { results.allSatisfy(\.isPassed) }

  package var text: String {
    var table = TextTable(titles: [
      "fault", "row", "runs", "pushes", "lost", "duplicates", "bound", "phantoms", "recovery s",
      "took s", "",
    ])
    for result in results { table.append(Self.cells(result)) }
    var lines = table.lines()
    for result in results {
      if let reason = result.notRun { lines.append("row \(result.number) was not run: \(reason)") }
      lines += result.failures.map { "row \(result.number) failed: \($0)" }
      lines += result.notes.map { "row \(result.number): \($0)" }
    }
    lines.append("seed \(seed), scale \(scale)")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func cells(_ result: RowResult) -> [String] {
    if result.notRun != nil {
      return [result.fault, String(result.number)] + Array(repeating: "", count: 8) + ["NOT RUN"]
    }
    let counts = [
      result.number, result.runs, result.pushes, result.lost, result.duplicates,
      result.duplicatesMax, result.phantoms,
    ]
    return [result.fault] + counts.map(String.init)
      + [
        result.recoverySeconds.map(tenths) ?? "", tenths(result.seconds),
        result.isPassed ? "passed" : "FAILED",
      ]
  }

  package var json: String {
    let rows = results.map { result -> JSONValue in
      var object: JSONObject = ["row": .integer(result.number), "fault": .string(result.fault)]
      object["passed"] = .bool(result.isPassed)
      if let reason = result.notRun {
        object["not_run"] = .string(reason)
        return .object(object)
      }
      let counts = [
        ("runs", result.runs), ("pushes", result.pushes), ("lost", result.lost),
        ("duplicates", result.duplicates), ("duplicates_max", result.duplicatesMax),
        ("phantoms", result.phantoms), ("ms", Int(result.seconds * 1_000)),
      ]
      for (name, count) in counts { object[name] = .integer(count) }
      object["recovery_ms"] = result.recoverySeconds.map { .integer(Int($0 * 1_000)) } ?? .null
      object["failures"] = .array(result.failures.map { .string($0) })
      object["notes"] = .array(result.notes.map { .string($0) })
      return .object(object)
    }
    let whole: JSONObject = [
      "seed": .string(String(seed)), "scale": .string("\(scale)"), "passed": .bool(isPassed),
      "rows": .array(rows),
    ]
    return JSONValue.object(whole).text() + "\n"
  }
}
