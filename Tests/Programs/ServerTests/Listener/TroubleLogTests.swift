import Logging
import Synchronization
import Testing

@testable import Server

@Suite struct TroubleLogTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  private struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let more = event.metadata?["more"].map { " (\($0) more)" } ?? ""
      lines.all.withLock { $0.append("\(event.message)\(more)") }
    }
  }

  @Test("while Redis is away one request a second is told, and then how many were not")
  func heldBack() {
    let lines = Lines()
    let now = Mutex(ContinuousClock.now)
    let log = TroubleLog(Logger(label: "test") { _ in Handler(lines: lines) }) {
      now.withLock { $0 }
    }
    var away = Problem.unavailable("try again")
    away.cause = "no Redis"
    for _ in 0..<1_000 { log.tell(away, of: "r", nil) }
    // A client's fault is none of the server's, and another status has its own turn.
    log.tell(.notFound("x"), of: "r", nil)
    log.tell(Problem(500, "internal error", "broken"), of: "r", nil)
    now.withLock { $0 += .seconds(1) }
    log.tell(away, of: "r", nil)
    now.withLock { $0 += .seconds(1) }
    log.tell(away, of: "r", nil)
    let told = "a request was not done: no Redis"
    #expect(
      lines.all.withLock { $0 } == [
        told, "a request was not done: broken", "\(told) (999 more)", told,
      ])
  }
}
