import Testing

@testable import Server

@Suite struct ConnectionLedgerTests {
  private static func exchange(isLast: Bool = false) -> ConnectionLedger.Exchange {
    ConnectionLedger.Exchange(isLast: isLast, isHTTP10: false, expectsContinue: false)
  }

  /// Begins an answer, and returns whether it says that it is the last.
  private static func begin(_ ledger: inout ConnectionLedger, saysLast: Bool) -> Bool? {
    ledger.answerBegins(saysLast: saysLast)?.saysLast
  }

  private static func end(_ ledger: inout ConnectionLedger) -> Bool? { ledger.answerEnds() }

  @Test("one request after another is answered on the same connection")
  func goesOn() {
    var ledger = ConnectionLedger()
    for _ in 0..<3 {
      ledger.begin(Self.exchange())
      #expect(ledger.isReading && ledger.isAnswering)
      ledger.end()
      #expect(Self.begin(&ledger, saysLast: false) == false)
      #expect(Self.end(&ledger) == false)
      #expect(!ledger.isAnswering && ledger.takesMore)
    }
  }

  @Test("an answer that is there before the request's end is the last one")
  func unread() {
    var ledger = ConnectionLedger()
    ledger.begin(Self.exchange())
    #expect(Self.begin(&ledger, saysLast: false) == true)
    #expect(Self.end(&ledger) == true)
    #expect(!ledger.takesMore)
  }

  @Test("requests behind one that wants to be the last are not let in")
  func last() {
    var ledger = ConnectionLedger()
    ledger.begin(Self.exchange())
    ledger.end()
    ledger.begin(Self.exchange(isLast: true))
    ledger.end()
    #expect(!ledger.takesMore)
    #expect(Self.begin(&ledger, saysLast: false) == false)
    #expect(Self.end(&ledger) == false)
    #expect(Self.begin(&ledger, saysLast: false) == true)
    #expect(Self.end(&ledger) == true)
  }

  @Test("what is refused ends the connection behind the answers that are due")
  func refused() {
    var ledger = ConnectionLedger()
    ledger.begin(Self.exchange())
    ledger.end()
    #expect(Self.begin(&ledger, saysLast: false) == false)
    // It comes while the answer is being written.
    ledger.refuseMore()
    #expect(Self.end(&ledger) == true)
  }

  @Test("an answer that nobody waits for is none")
  func undue() {
    var ledger = ConnectionLedger()
    #expect(Self.begin(&ledger, saysLast: false) == nil)
    #expect(Self.end(&ledger) == nil)
    #expect(ledger.takesMore)
  }

  @Test("an answer may end the connection by itself")
  func says() {
    var ledger = ConnectionLedger()
    ledger.begin(Self.exchange())
    ledger.end()
    ledger.begin(Self.exchange())
    ledger.end()
    #expect(Self.begin(&ledger, saysLast: true) == true)
    #expect(Self.end(&ledger) == true)
    #expect(!ledger.takesMore)
  }
}
