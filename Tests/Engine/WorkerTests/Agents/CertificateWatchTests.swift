import HTTP2
import Logging
import Model
import Providers
import Reactor
import Testing

@testable import Worker

@Suite struct CertificateWatchTests {
  private static let nowMs: Int64 = 1_790_000_000_000
  private static let dayMs: Int64 = 86_400_000
  private let lines = LogLines()

  private static func source(leftDays: Int64) -> CertificateCredentialSource {
    CertificateCredentialSource(.file("/etc/shop.p12"), expiresAtMs: nowMs + leftDays * dayMs)
  }

  @Test(
    "a certificate that expires soon, or has expired, is an alarm although nothing was sent, and logged once a day",
    arguments: [(20, "expires on"), (-2, "expired on")] as [(Int64, String)])
  func tells(leftDays: Int64, words: String) throws {
    let watch = CertificateWatch(
      directory: try TestDirectory.of(
        .production, credentials: Self.source(leftDays: leftDays)),
      clock: FleetClock(own: WallClock { Self.nowMs }), log: lines.logger)
    for _ in 0..<3 { watch.report() }
    #expect(lines.all.count == 1)
    #expect(lines.has(leftDays < 0 ? .error : .warning, words, ["app": "shop"]))
    let condition = try #require(watch.alarmConditions.first)
    #expect(condition.field == "certificate|shop|apns|production")
    #expect(condition.sentence.contains("shop: the certificate /etc/shop.p12 \(words)"))
  }

  @Test("one that holds for long is no alarm, nor is an app without one")
  func isQuiet() throws {
    let watch = CertificateWatch(
      directory: try TestDirectory.of(.production, credentials: Self.source(leftDays: 100)),
      clock: FleetClock(own: WallClock { Self.nowMs }), log: lines.logger)
    watch.report()
    #expect(watch.alarmConditions.isEmpty && lines.all.isEmpty)
    let other = CertificateWatch(
      directory: try TestDirectory.of(.production), clock: FleetClock(), log: lines.logger)
    #expect(other.alarmConditions.isEmpty)
  }

  @Test(
    "a network that cannot be reached is told of with the end of its connection and of the certificate"
  )
  func namesTheCause() throws {
    let stage = try SendingStage(
      credentials: CertificateCredentialSource(.file("/etc/shop.p12"), expiresAtMs: 1))
    defer { stage.sending.close() }
    let destination = stage.destination
    #expect(destination.hindrance(nowMs: 0) == nil)
    destination.transport(
      TestTransport(), connectionEnded: .failed(.tls("certificate expired")))
    let hindrance = try #require(destination.hindrance(nowMs: 86_400_000))
    #expect(hindrance.contains("the certificate /etc/shop.p12 expired on 1970-01-01"))
    #expect(hindrance.contains("TLS: certificate expired"))
  }

  @Test("a credential that is paused is told of with the reason")
  func namesTheRefusal() throws {
    let stage = try SendingStage()
    defer { stage.sending.close() }
    stage.destination.pause(forMs: 60_000, because: "SERVICE_DISABLED; enable the API")
    let condition = try #require(stage.sending.watch.alarmConditions.first)
    #expect(condition.field == "credential|shop|apns|production")
    #expect(condition.sentence.contains("(SERVICE_DISABLED; enable the API)"))
  }
}
