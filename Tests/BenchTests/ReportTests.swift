import Bench
import Model
import Testing

@Suite struct ReportTests {
  private func result(ratio: Double) -> ScenarioResult {
    var result = ScenarioResult(.apns, pushes: 300_000, repeats: 3)
    result.ratio = ratio
    result.pushesPerSecond = 54_321
    result.budgets = [
      Budget("ratio", ratio, .atMost, 3.0, unit: " x", isRequired: true),
      Budget("ratio", ratio, .atMost, 1.5, unit: " x"),
    ]
    return result
  }

  @Test("a report is kept when nothing that is required is missed")
  func kept() {
    #expect(Report([result(ratio: 2.5)]).isKept)
    #expect(!Report([result(ratio: 2.5), result(ratio: 3.5)]).isKept)
  }

  @Test("the table has a row for each scenario and one for each budget")
  func table() {
    let lines = Report([result(ratio: 2.5)]).text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("apns") && $0.contains("54,321") })
    #expect(lines.contains { $0.hasSuffix("met") && $0.contains("≤ 3.0 x") })
    #expect(lines.contains { $0.hasSuffix("open") && $0.contains("≤ 1.5 x") })
  }

  @Test("the JSON has plain numbers, and null for what was not measured")
  func json() throws {
    var unmeasured = result(ratio: .nan)
    unmeasured.pushesPerSecond = nil
    let report = Report([result(ratio: 2.5), unmeasured])
    let value = try JSONParser().parse(Array(report.json.utf8)).objectValue
    #expect(value?["kept"] == .bool(false))
    let scenarios = try #require(value?["scenarios"]?.arrayValue)
    #expect(
      scenarios[0].objectValue?["pushes_per_second"].map { "\($0)" }?.contains("54321") == true)
    #expect(scenarios[1].objectValue?["pushes_per_second"] == nil)
    #expect(scenarios[1].objectValue?["ratio"] == .null)
  }
}
