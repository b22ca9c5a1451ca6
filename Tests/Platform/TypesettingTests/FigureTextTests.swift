import Testing
import Typesetting

@Suite struct FigureTextTests {
  @Test(
    "counts have their thousands set off",
    arguments: [(0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567")])
  func count(number: Int, text: String) {
    #expect(FigureText.count(number) == text)
  }

  @Test("a share is never rounded to none or all when it is neither")
  func share() {
    #expect(FigureText.share(941, of: 1_000) == "94.1 %")
    #expect(FigureText.share(1, of: 1_000_000) == "<0.1 %")
    #expect(FigureText.share(999_999, of: 1_000_000) == ">99.9 %")
    #expect(FigureText.share(0, of: 10) == "0.0 %")
    #expect(FigureText.share(0, of: 0) == "")
  }

  @Test(
    "durations have two units at most",
    arguments: [
      (850, "850 ms"), (12_340, "12.3 s"), (245_000, "4 min 05 s"), (12_000_000, "3 h 20 min"),
      (187_200_000, "2 d 4 h"),
    ] as [(Int64, String)])
  func duration(ms: Int64, text: String) {
    #expect(FigureText.duration(ms: ms) == text)
  }
}
