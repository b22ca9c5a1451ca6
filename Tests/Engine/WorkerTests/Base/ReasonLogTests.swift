import Logging
import Redis
import Testing

@testable import Worker

@Suite struct ReasonLogTests {
  private let lines = LogLines()

  @Test("a reason is logged once, and its number when that is asked for")
  func countsReasons() {
    let log = ReasonLog(log: lines.logger)
    for _ in 0..<3 { log.note("no luck") }
    log.note("no use", level: .error)
    #expect(lines.all == ["warning: no luck", "error: no use"])
    log.logCounts()
    #expect(lines.all.count == 3 && lines.has(.notice, "no luck"))
    log.note("no luck")
    #expect(lines.all.count == 4)
  }

  @Test("so many reasons are remembered, and no more are logged")
  func boundsReasons() {
    let log = ReasonLog(log: lines.logger)
    for number in 0..<(2 * WorkerLimits.reasonsMax) { log.note("reason \(number)") }
    #expect(lines.all.count == WorkerLimits.reasonsMax)
  }

  @Test("what Redis refuses is logged, a lost connection is not")
  func notesErrors() {
    let log = ReasonLog(log: lines.logger)
    log.note(RedisError.timeout, during: "taking jobs in")
    #expect(lines.all.isEmpty)
    log.note(RedisError.server(code: "OOM", message: "no memory"), during: "taking jobs in")
    #expect(lines.has(.warning, "taking jobs in fails and is tried again"))
  }
}
