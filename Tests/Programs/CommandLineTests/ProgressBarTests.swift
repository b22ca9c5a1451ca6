import Testing
import Typesetting

@testable import CommandLineInterface

@Suite struct ProgressBarTests {
  private let bar = ProgressBar(label: "importing", total: 10_000)

  @Test("a bar shows its share, its count, its rate and the time that is left")
  func whole() {
    #expect(
      bar.line(done: 6_200, elapsedMs: 2_000, columns: 100)
        == "importing  [██████████████████░░░░░░░░░░░░]   62 %  6,200/10,000  3,100/s  0:02 left")
  }

  @Test("a bar is never wider than the terminal", arguments: [1, 8, 20, 33, 40, 55, 79, 120])
  func width(columns: Int) {
    for done in [0, 1, 5_000, 10_000] {
      let line = bar.line(done: done, elapsedMs: 61_000, columns: columns)
      #expect(DisplayText.columns(line) <= columns)
    }
  }

  @Test("a narrow terminal keeps label and percentage longest")
  func narrow() {
    #expect(bar.line(done: 5_000, elapsedMs: 5_000, columns: 18) == "importing   50 %")
  }

  @Test("more done than expected does not overflow the bar")
  func overflow() {
    let line = bar.line(done: 20_000, elapsedMs: 1_000, columns: 80)
    #expect(line.contains("100 %"))
    #expect(!line.contains("░"))
  }

  @Test("without a total there is a count and no bar")
  func unknownTotal() {
    let line = ProgressBar(label: "importing", total: nil)
      .line(done: 1_234, elapsedMs: 2_000, columns: 80)
    #expect(line == "importing  1,234  617/s  0:02")
  }

  @Test("bytes drive the bar while installations are counted")
  func counted() {
    let line = bar.line(done: 5_000, count: 70, elapsedMs: 1_000, columns: 40)
    #expect(line.contains(" 50 %  70  70/s"))
  }

  @Test("a terminal without Unicode gets ASCII")
  func ascii() {
    let line = bar.line(done: 5_000, elapsedMs: 0, columns: 60, isUnicode: false)
    #expect(line.contains("[####"))
    #expect(line.utf8.allSatisfy { $0 < 0x80 })
  }
}
