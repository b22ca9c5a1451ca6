import LocalServices
import Model
import Store
import Typesetting

/// Fills Redis with installations of a population.
struct InstallationLoad {
  private static let batch = StoreLimits.importBatchMax

  let session: BenchSession
  let population: Population
  let progress: ProgressLine
  /// The app of each installation, by its number.
  var app: @Sendable (Int) -> String = { _ in Population.app }

  /// Imports the installations with these numbers.
  /// - Throws: when one of them was there already.
  func run(_ numbers: Range<Int>, where isWanted: @Sendable (Int) -> Bool = { _ in true })
    async throws
  {
    try await withThrowingTaskGroup(of: Int.self) { group in
      var next = numbers.lowerBound
      var done = numbers.lowerBound
      while done < numbers.upperBound {
        while next < numbers.upperBound, next - done < BenchLimits.importsInFlight * Self.batch {
          let part = next..<min(next + Self.batch, numbers.upperBound)
          next = part.upperBound
          let batch = try part.filter(isWanted).map {
            try population.installation($0, app: app($0))
          }
          let session = self.session
          group.addTask {
            if batch.isEmpty { return part.count }
            let answer = try await session.importBatch(batch)
            guard answer.created == batch.count else {
              throw BenchError(
                "of \(batch.count) installations \(answer.created) were created: \(answer)")
            }
            return part.count
          }
        }
        done += try await group.next() ?? 0
        progress.tick(
          "importing \(FigureText.count(done)) of \(FigureText.count(numbers.upperBound)) installations"
        )
      }
    }
  }
}
