import Bench
import Model
import Testing

@Suite struct ReportTests {
  private func result(_ name: String = "apns", ratio: Double) -> ScenarioResult {
    var result = ScenarioResult(name, pushes: 300_000, runs: 3)
    result.ratio = ratio
    result.pushesPerSecond = 54_321
    result.checks = [
      BudgetCheck(Budget(.ratio, .atMost, 1.5, aim: 1.1, unit: " x"), ratio),
      BudgetCheck(Budget(.p99, .atMost, 10, unit: " ms"), 4),
    ]
    return result
  }

  @Test("a report is kept when every budget is met")
  func kept() {
    #expect(Report([result(ratio: 1.4)]).isKept)
    #expect(!Report([result(ratio: 1.4), result(ratio: 1.6)]).isKept)
  }

  @Test("the table has a row for each scenario, one for each budget and what was not measured")
  func table() {
    let failure = ScenarioFailure(name: "curl", reason: "no such transport")
    let text = Report([result(ratio: 1.4), result("fcm", ratio: 1.6)], failures: [failure]).text
    let lines = text.split(separator: "\n")
    #expect(
      lines.contains { $0.hasPrefix("apns ") && $0.contains("54,321") && $0.hasSuffix("met") })
    #expect(lines.contains { $0.hasPrefix("fcm ") && $0.hasSuffix("MISSED") })
    #expect(lines.contains { $0.hasPrefix("apns: p99") && $0.contains("≤ 10 ms") })
    #expect(lines.contains("NOT MEASURED curl: no such transport"))
  }

  @Test("the JSON has plain numbers, and null for what was not measured")
  func json() throws {
    var unmeasured = result(ratio: .nan)
    unmeasured.pushesPerSecond = nil
    let report = Report([result(ratio: 1.4), unmeasured])
    let value = try JSONParser().parse(Array(report.json.utf8)).objectValue
    #expect(value?["kept"] == .bool(false))
    let scenarios = try #require(value?["scenarios"]?.arrayValue)
    #expect(
      scenarios[0].objectValue?["pushes_per_second"].map { "\($0)" }?.contains("54321") == true)
    #expect(scenarios[1].objectValue?["pushes_per_second"] == nil)
    #expect(scenarios[1].objectValue?["ratio"] == .null)
  }

  @Test("a run is worse than an earlier one when a ratio grew by more than a tenth")
  func comparison() throws {
    let old = Array(Report([result(ratio: 1.0), result("fcm", ratio: 2.0)]).json.utf8)
    let same = try Comparison(
      old: old, new: Report([result(ratio: 1.09), result("new", ratio: 9)]))
    #expect(!same.isWorse)
    #expect(same.text.contains("+9.0 %"))
    #expect(!same.text.contains("new"))
    let worse = try Comparison(old: old, new: Report([result("fcm", ratio: 2.3)]))
    #expect(worse.isWorse)
    #expect(worse.text.contains("WORSE"))
    let better = try Comparison(old: old, new: Report([result("fcm", ratio: 1.0)]))
    #expect(!better.isWorse)
    #expect(better.text.contains("-50.0 %"))
  }

  @Test("what --json did not write cannot be compared with", arguments: ["", "[]", "{}"])
  func comparisonWithOther(text: String) {
    #expect(throws: BenchError.self) { try Comparison(old: Array(text.utf8), new: Report([])) }
  }
}
