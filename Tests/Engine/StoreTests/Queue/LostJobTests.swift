import Model
import Redis
import Testing

@testable import Store

@Suite struct LostJobTests {
  @Test(arguments: [1, 2])
  func `the only chunk of a job has lost the workers that the job has lost`(
    segments: Int
  ) async throws {
    try await Lane.withStore { _, store in
      let entry = try await store.takeNew("dead")
      for _ in 0..<2 {
        let taken = try await store.jobs.take(consumer: "dead", max: 1, abandonedForMs: 0)
        #expect(taken.map(\.entry) == [entry.entry])
      }
      var admission = Admission(
        app: "shop", id: "j", digest: "d", content: [0x7b, 0x7d],
        audience: Admission.Audience(lines: .users, recipients: segments, segments: segments))
      admission.audience.texts = (0..<segments).map { Array("u\($0)\n".utf8) }
      let answer = try await store.jobs.admit(entry, admission, consumer: "dead")
      #expect(answer == .admitted)
      let claim = try await store.claimOne()
      #expect(claim.crashes == (segments == 1 ? 2 : 0))
    }
  }
}
