import Bench
import Testing

@Suite struct CostPlotTests {
  @Test("a plot has two bars for each row that has costs, and escapes names")
  func bars() {
    var row = ScenarioResult("a<b>&c", pushes: 1, runs: 1)
    row.workerMicroseconds = 4
    row.h2loadMicroseconds = 2
    row.ratio = 2
    let svg = CostPlot.svg([row, ScenarioResult("idle", pushes: 1, runs: 1)])
    #expect(svg.contains("a&lt;b&gt;&amp;c"))
    #expect(!svg.contains("idle"))
    // The ground, two in the legend, two bars.
    #expect(svg.split(separator: "<rect").count - 1 == 5)
    #expect(svg.contains("(2.00 x)"))
  }

  @Test("the longest bar is as wide as there is room, the others in proportion")
  func widths() {
    var row = ScenarioResult("apns", pushes: 1, runs: 1)
    row.workerMicroseconds = 8
    row.h2loadMicroseconds = 4
    let svg = CostPlot.svg([row])
    #expect(svg.contains(#"width="460.0""#))
    #expect(svg.contains(#"width="230.0""#))
  }
}
