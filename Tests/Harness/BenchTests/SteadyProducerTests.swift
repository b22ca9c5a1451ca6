import LocalServices
import Model
import Testing

@testable import Bench

@Suite struct SteadyProducerTests {
  private static let population = Population(networks: [.apns], users: 40)

  private func producer(_ session: BenchSession) -> SteadyProducer {
    SteadyProducer(
      session: session, population: Self.population, perSecond: 100, priority: .high)
  }

  @Test("each user gets one job, none before it is due")
  func pace() async throws {
    try await RedisServer.with { redis in
      let session = try await BenchSession.open(url: redis.url)
      let starts = try await producer(session).run(10..<30)
      #expect(starts.keys.sorted() == Array(10..<30))
      let (first, last) = (try #require(starts[10]), try #require(starts[29]))
      // The clock is read after the first is due, and in whole milliseconds.
      #expect(last - first >= 150)
      try await session.pipeline([Self.expecting(20)])
      await session.close()
    }
  }

  @Test("none is enqueued once it was stopped")
  func stops() async throws {
    try await RedisServer.with { redis in
      let session = try await BenchSession.open(url: redis.url)
      let producer = producer(session)
      producer.stop()
      #expect(try await producer.run(10..<30) == [:])
      try await session.pipeline([Self.expecting(0)])
      await session.close()
    }
  }

  /// A command that fails unless so many jobs wait.
  private static func expecting(_ count: Int) -> [String] {
    let script =
      "if redis.call('XLEN', KEYS[1]) ~= \(count) then return redis.error_reply('others') end"
    return ["EVAL", script, "1", "pushpool:jobs:high"]
  }
}
