import Bench
import Testing

@Suite struct BudgetTests {
  private let ratio = Budget(.ratio, .atMost, 1.5, aim: 1.1, unit: " x")
  private let share = Budget(.share, .atLeast, 90, aim: 97, unit: " %")

  @Test("a budget at its limit is met, beyond it missed, and its aim is told apart")
  func verdict() {
    #expect(BudgetCheck(ratio, 1.1).verdict == "met, aim too")
    #expect(BudgetCheck(ratio, 1.5).verdict == "met")
    #expect(BudgetCheck(ratio, 1.51).verdict == "MISSED")
    #expect(BudgetCheck(share, 97).verdict == "met, aim too")
    #expect(BudgetCheck(share, 90).verdict == "met")
    #expect(BudgetCheck(share, 89.9).verdict == "MISSED")
  }

  @Test("what was not measured is not met")
  func notMeasured() {
    #expect(!BudgetCheck(ratio, .nan).isMet)
    #expect(!BudgetCheck(share, nil).isMet)
  }

  @Test("a limit is written without needless zeros")
  func text() {
    #expect(ratio.text(1.5) == "≤ 1.5 x")
    #expect(ratio.text(2) == "≤ 2 x")
    #expect(share.text(100) == "≥ 100 %")
  }
}
