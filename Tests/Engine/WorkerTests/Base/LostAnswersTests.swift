import Redis
import Testing

@testable import Worker

@Suite struct LostAnswersTests {
  private var lost = LostAnswers()

  @Test(
    "an answer that was lost is asked for until Redis answers",
    arguments: [.connectionLost(reason: "reset"), .timeout, .protocolViolation("?")] as [RedisError]
  )
  mutating func asks(error: RedisError) {
    #expect(!lost.areToBeAskedFor)
    lost.note(error)
    #expect(lost.areToBeAskedFor)
    lost.forget()
    #expect(!lost.areToBeAskedFor)
  }

  @Test("answers that are lost again and again are left to their leases, until Redis answers")
  mutating func givesUp() {
    for _ in 0..<WorkerLimits.lostAnswersMax { lost.note(.timeout) }
    #expect(lost.areToBeAskedFor)
    lost.note(.timeout)
    #expect(!lost.areToBeAskedFor)
    lost.forget()
    lost.note(.timeout)
    #expect(lost.areToBeAskedFor)
  }

  @Test(
    "a command that never left, or was refused for a while, loses an answer only if Redis has answered before",
    arguments: [
      .unavailable(reason: "away"), .tooManyPending, .server(code: "NOREPLICAS", message: "no"),
      .server(code: "NOPERM", message: "no"),
    ] as [RedisError])
  mutating func remembers(error: RedisError) {
    lost.note(error)
    #expect(!lost.areToBeAskedFor)
    lost.forget()
    for _ in 0...WorkerLimits.lostAnswersMax { lost.note(error) }
    #expect(lost.areToBeAskedFor)
  }

  @Test("what Redis refuses is no lost answer, and does not end the search for one")
  mutating func passesRefusals() {
    let refusals: [RedisError] = [.server(code: "ERR", message: "no"), .unexpectedReply("?")]
    lost.forget()
    for refusal in refusals { lost.note(refusal) }
    #expect(!lost.areToBeAskedFor)
    lost.note(.timeout)
    for refusal in refusals { lost.note(refusal) }
    #expect(lost.areToBeAskedFor)
  }
}
