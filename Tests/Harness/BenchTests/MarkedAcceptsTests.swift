import LocalServices
import Model
import Testing

@testable import Bench

@Suite struct MarkedAcceptsTests {
  private static let population = Population(networks: [.apns], users: 20, markedFrom: 10)

  private func latencies(_ starts: [Int: Int64]) throws -> [Double] {
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let lines = [(3, 1_004), (12, 1_010), (11, 1_007)].map { user, ms in
      "\(ms) apns \(Self.population.tokenText(user)) 1 1\n"
    }
    try PrivateFile.write(lines.joined(), to: folder.file("accepted.log"))
    return try MarkedAccepts.latencies(
      starts, Self.population, in: folder.file("accepted.log"))
  }

  @Test("a push took from its job's enqueueing to its line in the log")
  func found() throws {
    #expect(try latencies([11: 1_000, 12: 1_000]).sorted() == [7, 10])
  }

  @Test("a push that is not in the log is no figure")
  func missing() {
    #expect(throws: BenchError.self) { try latencies([11: 1_000, 13: 1_000]) }
  }
}
