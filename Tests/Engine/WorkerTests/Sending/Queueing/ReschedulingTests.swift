import Model
import Testing

@testable import Worker

@Suite struct ReschedulingTests {
  @Test("what would expire while it waits for others of its chunk is told without them")
  func hurriesBeforeExpiry() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    for (leftMs, isTold) in [(2_900, true), (60_000, false)] as [(Int64, Bool)] {
      let content = JobContent(
        notification: Notification(title: "Hi"),
        expiry: .at(ms: stage.wallMs + leftMs))
      for isAttempt in [true, false] {
        let run = try Claims.run(["a", "b"], content: content)
        _ = run.takeBatch(max: 2)
        _ = run.resolve(0, devices: 1)
        _ = run.resolve(1, devices: 1)
        if isAttempt {
          stage.sending.rescheduling.retry(run, 0, afterMs: 2_000)
        } else {
          stage.sending.rescheduling.putAside(run, 0, delayMs: 2_000)
        }
        #expect(run.pushes[0].decision == .later && run.hasNews == isTold, "\(leftMs) ms left")
      }
    }
  }
}
