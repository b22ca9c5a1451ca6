import Chaos
import Testing

/// The rows at a small size, with the programs that stand beside the tests.
@Suite("fault matrix", .serialized)
struct MatrixTests {
  @Test("a row of the matrix passes at a small size", arguments: [1, 3, 4, 5, 6, 12])
  func passes(row: Int) async throws {
    let result = try #require(
      await FaultMatrix.run(
        row, programs: try ChaosPrograms(), seed: ChaosDefaults.seed, scale: 0.02,
        progress: ChaosProgress(isQuiet: true)))
    for failure in result.failures { Issue.record("row \(row): \(failure)") }
    for note in result.notes { print("row \(row): \(note)") }
    #expect(result.pushes > 0)
  }
}
