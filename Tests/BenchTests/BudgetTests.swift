import Bench
import Testing

@Suite struct BudgetTests {
  @Test("a budget at its limit is met, beyond it missed, and only shown when it is a goal")
  func verdict() {
    #expect(Budget("ratio", 3.0, .atMost, 3.0, unit: " x", isRequired: true).verdict == "met")
    #expect(Budget("ratio", 3.1, .atMost, 3.0, unit: " x", isRequired: true).verdict == "missed")
    #expect(Budget("ratio", 3.1, .atMost, 3.0, unit: " x").verdict == "open")
    #expect(Budget("use", 89.9, .atLeast, 90, unit: " %").verdict == "open")
    #expect(Budget("use", 90, .atLeast, 90, unit: " %").verdict == "met")
  }

  @Test("what was not measured is not met")
  func notMeasured() {
    #expect(!Budget("ratio", .nan, .atMost, 3.0, unit: " x", isRequired: true).isMet)
    #expect(!Budget("use", .nan, .atLeast, 90, unit: " %").isMet)
  }
}
