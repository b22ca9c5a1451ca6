import Model
import Store
import Testing

@testable import Worker

/// How many dead tokens a run tells the store of at a time.
@Suite struct DeadTokensTests {
  @Test("a settlement has so many dead tokens and no more, and each is told once")
  func tellsDeadInParts() throws {
    let max = WorkerLimits.settledDeadMax
    let users = (0..<2 * max + 5).map { "user-\($0)" }
    let run = try Claims.run(users)
    _ = run.takeBatch(max: users.count)
    for index in users.indices {
      run.decideInvalid(run.resolve(index, devices: 1)[0], reason: "Unregistered", sinceMs: 9)
    }
    var told: [String] = []
    for part in [max, max, 5] {
      #expect(run.hasNews && run.isFinished == (part == 5))
      let news = run.takeNews(isFinal: run.isFinished)
      #expect(news.invalidations.count == part)
      told += news.invalidations.map(\.user)
      #expect(users.indices.filter { news.done.contains($0) }.count == told.count)
    }
    #expect(told == users && !run.hasNews)
  }

  @Test("doubtful tokens are settled together even where dead ones would be too many")
  func tellsDoubtfulTogether() throws {
    let users = (0..<WorkerLimits.settledDeadMax * 2).map { "user-\($0)" }
    let run = try Claims.run(users)
    _ = run.takeBatch(max: users.count)
    for index in users.indices {
      run.decideDoubtful(run.resolve(index, devices: 1)[0], reason: "BadDeviceToken")
    }
    #expect(run.isFinished)
    #expect(run.takeNews(isFinal: true).invalidations.count == users.count)
  }
}
