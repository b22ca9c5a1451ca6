import Model
import Store

/// Fills Redis with a population.
struct InstallationLoad {
  private static let batch = 500

  let session: RedisSession
  let population: Population
  let progress: Progress

  func run() async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
      var next = 0
      var done = 0
      while done < population.count {
        while next < population.count, next - done < BenchLimits.importsInFlight * Self.batch {
          let numbers = next..<min(next + Self.batch, population.count)
          next = numbers.upperBound
          let session = self.session
          let population = self.population
          group.addTask {
            let answer = try await session.importBatch(
              try numbers.map { try population.installation($0) })
            guard answer.created == numbers.count else {
              throw BenchError(
                "of \(numbers.count) installations \(answer.created) were created: \(answer)")
            }
            return numbers.count
          }
        }
        done += try await group.next() ?? 0
        progress.tick(
          "importing \(Figure.grouped(done)) of \(Figure.grouped(population.count)) installations")
      }
    }
  }
}
