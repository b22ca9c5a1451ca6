import LocalServices
import Model
import Testing

@testable import Providers

/// Tokens and pauses when a clock somewhere is wrong.
@Suite("Credentials and wrong clocks")
struct CredentialClockTests {
  let clock = TestClock()
  let fleet = FleetOfTests()
  let source: APNsTokenSource

  init() throws {
    let folder = try TemporaryFolder()
    let file = try APNsSigningKey(folder: folder.path)
    source = APNsTokenSource(
      key: try SigningKey(file: file.file, algorithm: .es256), keyID: file.keyID,
      teamID: file.teamID, clock: clock.wallClock)
    source.share(through: fleet)
  }

  @Test(
    "a shared token that was signed in the future is replaced at once", arguments: [1, 10, 30, 600])
  func sharedFuture(minutes: Int64) async throws {
    _ = try await fleet.agree(
      key: source.shareKey, proposal: foreign(minutes: minutes), refused: nil, lifeMs: 60_000)
    let credential = try await source.current()
    #expect(credential.header != "bearer foreign")
    #expect(
      try await fleet.current(key: source.shareKey).map { "bearer \($0.token)" }
        == credential.header)
    #expect(try await fleet.current(key: source.shareKey)?.issuedAtMs == clock.nowMs)
  }

  @Test("a shared token of some seconds ahead is taken, and replaced at once when it is refused")
  func nearFuture() async throws {
    let near = SharedToken(token: "foreign", issuedAtMs: clock.nowMs + 20_000)
    _ = try await fleet.agree(key: source.shareKey, proposal: near, refused: nil, lifeMs: 60_000)
    let credential = try await source.current()
    #expect(credential.header == "bearer foreign")
    let renewed = try await source.refused(
      generation: credential.generation, reason: "InvalidProviderToken")
    #expect(renewed.header != credential.header)
    #expect(
      try await fleet.current(key: source.shareKey).map { "bearer \($0.token)" } == renewed.header)
  }

  @Test("no refusal pauses a key for longer than 20 minutes", arguments: [-50, -19, -1, 0, 1])
  func pauses(minutes: Int64) async throws {
    let token = SharedToken(
      token: "foreign", issuedAtMs: clock.nowMs + (minutes < 1 ? minutes * 60_000 : 29_000))
    _ = try await fleet.agree(key: source.shareKey, proposal: token, refused: nil, lifeMs: 60_000)
    let credential = try await source.current()
    for reason in ["TooManyProviderTokenUpdates", "InvalidProviderToken"] {
      do {
        _ = try await source.refused(generation: credential.generation, reason: reason)
      } catch {
        #expect(error.resumeAtMs > clock.nowMs)
        #expect(error.resumeAtMs <= clock.nowMs + 20 * 60_000)
      }
    }
  }

  @Test("a clock that is set back does not make the pause of a certificate longer")
  func certificatePause() async throws {
    let certificate = CertificateCredentialSource(.file("dev.p12"), clock: clock.wallClock)
    await #expect(throws: CredentialError.self) {
      try await certificate.refused(generation: 0, reason: "BadCertificate")
    }
    clock.advance(minutes: -60)
    _ = try await certificate.current()
  }

  @Test(
    "text that no worker wrote is no token",
    arguments: [
      "", "5", "x y", "9223372036854775807 abc", "-9223372036854775808 abc",
      "9223372036854775807 abc 3600000", "-1 abc", "0 abc", "05 abc", "+5 abc", "5  abc", " 5 abc",
      "5 abc ", "5 abc 05", "5 abc 0", "5 abc 86400001", "5 abc 3600000 4", "253402300800000 abc",
      "5 \(String(repeating: "a", count: 8_193))", "5 a\u{7f}",
    ])
  func noToken(text: String) {
    #expect(SharedToken(text: text) == nil)
  }

  @Test("what a worker wrote is read as it was")
  func readsBack() throws {
    for token in [
      SharedToken(token: "abc", issuedAtMs: 1), SharedToken(token: "abc", issuedAtMs: 1, lifeMs: 1),
      SharedToken(token: "a.b-c", issuedAtMs: clock.nowMs, lifeMs: 3_600_000),
    ] {
      #expect(SharedToken(text: token.text) == token)
    }
  }

  private func foreign(minutes: Int64) -> SharedToken {
    SharedToken(token: "foreign", issuedAtMs: clock.nowMs + minutes * 60_000)
  }
}
