import Chaos
import LocalServices
import Testing

/// The rows at a small size, with the programs that stand beside the tests.
@Suite("fault matrix", .serialized)
struct MatrixTests {
  /// Not rows 2, 9, 14 and 18: `CrashPointTests`, `BadInputTests` and `ClockTests` do the same in less time, and a soak is
  /// long.
  /// Nor row 8: on a machine that has no time to spare, what its workers hold beside the poison dies with them, too.
  /// Nor row 28, which takes as long as its job.
  /// Nor row 29: `SentinelFailoverTests` does the same in less time, for sentinels take their own.
  /// Nor row 31: `ClockStepTests` does the same in less time. Nor row 32: `ClusterFailoverTests` does. Nor row 33:
  /// `ShardTests` does.
  /// Nor rows 19 and 22, which time Redis: `ReadyChunkTests` and `BoundTests` count what they time.
  private static let rows = [
    1, 3, 4, 5, 6, 7, 10, 11, 12, 13, 15, 16, 17, 20, 21, 23, 24, 25, 26, 27, 30,
  ]

  @Test("a row of the matrix passes at a small size", arguments: rows)
  func passes(row: Int) async throws {
    let result = try #require(
      await FaultMatrix.run(
        row, programs: try ChaosPrograms(), seed: ChaosDefaults.seed, scale: 0.02,
        progress: ProgressLine(isQuiet: true)))
    for failure in result.failures { Issue.record("row \(row): \(failure)") }
    print("row \(row): \(result.seconds) s")
    for note in result.notes { print("row \(row): \(note)") }
    #expect(result.notRun == nil)
    #expect(result.runs > 0)
  }
}
