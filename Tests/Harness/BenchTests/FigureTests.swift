import Bench
import Testing

@Suite struct FigureTests {
  @Test(
    "numbers have their decimals, and groups of three digits",
    arguments: [
      (1_234_567.0, 0, "1,234,567"), (0.05, 1, "0.1"), (9.999, 2, "10.00"), (3, 2, "3.00"),
      (-1.25, 1, "-1.3"), (999, 0, "999"), (.nan, 2, "-"), (.infinity, 0, "-"),
    ])
  func text(value: Double, decimals: Int, expected: String) {
    #expect(Figure.text(value, decimals: decimals) == expected)
  }
}
