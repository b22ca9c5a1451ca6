import Testing

@testable import Bench

@Suite struct PacedJobTests {
  /// A push each millisecond, which is the pace.
  private static let even = (0..<Int64(BenchLimits.pacedSeconds * 1_000)).map { 1_000_000 + $0 }

  @Test("pushes at an even pace differ from it by nothing")
  func exact() throws {
    #expect(try PacedJob.error(Self.even) < 0.01)
  }

  @Test("a second without pushes, and one with twice as many, are seen wherever they are")
  func gaps() throws {
    for second in [3, 17, 25] {
      let start = 1_000_000 + Int64(second) * 1_000
      let without = Self.even.map { $0 < start ? $0 : $0 + 1_000 }
      #expect(abs(try PacedJob.error(without) - 10) < 0.1)
      let twice = (Self.even + (0..<1_000).map { start + $0 }).sorted()
      #expect(abs(try PacedJob.error(twice) - 10) < 0.1)
    }
  }

  @Test("a job of less than ten seconds has no figure")
  func short() {
    #expect(throws: BenchError.self) { try PacedJob.error([1, 9_999]) }
    #expect(throws: BenchError.self) { try PacedJob.error([]) }
  }
}
