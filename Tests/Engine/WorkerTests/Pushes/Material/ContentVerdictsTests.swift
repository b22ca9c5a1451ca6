import Model
import Testing

@testable import Worker

@Suite struct ContentVerdictsTests {
  private var verdicts = ContentVerdicts()

  private mutating func refuse(_ count: Int, _ reason: String = "x", isSure: Bool = true) -> Int {
    (0..<count).count { _ in verdicts.noteRefusal(by: .fcm, reason, isSure: isSure) }
  }

  @Test("refusals alike in a row condemn a job on one network, once")
  mutating func condemns() {
    #expect(refuse(ContentVerdicts.refusalsMin - 1) == 0)
    #expect(!verdicts.isAnyCondemned)
    #expect(refuse(5) == 1)
    #expect(verdicts.isCondemned(by: .fcm) && !verdicts.isCondemned(by: .apns))
  }

  @Test("it takes more where a token may be to blame, and other words begin the count anew")
  mutating func doubts() {
    #expect(refuse(ContentVerdicts.doubtfulMin - 1, isSure: false) == 0)
    #expect(refuse(ContentVerdicts.refusalsMin - 1, "y") == 0)
    #expect(refuse(ContentVerdicts.refusalsMin - 1, "z") == 0)
  }

  @Test("an accept proves a verdict wrong")
  mutating func proves() {
    #expect(refuse(ContentVerdicts.doubtfulMin, isSure: false) == 1)
    verdicts.noteAccept(by: .apns)
    #expect(verdicts.isCondemned(by: .fcm))
    verdicts.noteAccept(by: .fcm)
    #expect(!verdicts.isAnyCondemned)
    #expect(refuse(200, isSure: false) == 0)
  }

  @Test("a job that any device of the network has got is not refused as a whole")
  mutating func accepted() {
    verdicts.noteAccept(by: .fcm)
    #expect(refuse(200) == 0)
    #expect(!verdicts.isAnyCondemned)
  }
}
