import LocalServices
import Model
import Testing

@testable import Providers

@Suite("APNs provider tokens")
struct APNsTokenSourceTests {
  let clock = TestClock()
  let publicKeyPEM: String
  let key: SigningKey
  let source: APNsTokenSource

  init() throws {
    let folder = try TemporaryFolder()
    let file = try APNsSigningKey(folder: folder.path)
    publicKeyPEM = file.publicKeyPEM
    key = try SigningKey(file: file.file, algorithm: .es256)
    source = APNsTokenSource(
      key: key, keyID: file.keyID, teamID: file.teamID, clock: clock.wallClock)
  }

  @Test("the header is a bearer token signed with the key, with kid, iss and iat")
  func token() async throws {
    let credential = try await source.current()
    let header = try #require(credential.header)
    #expect(header.hasPrefix("bearer "))
    let token = try #require(SignedToken(header.dropFirst("bearer ".count)))
    #expect(token.header["kid"] == .string("ABC123DEFG"))
    #expect(
      token.claims == ["iss": .string("DEF123GHIJ"), "iat": .integer(clock.nowMs / 1_000)])
    #expect(token.isSigned(by: publicKeyPEM))
    #expect(credential.expiresAtMs == clock.nowMs + 3_600_000)
  }

  @Test("everyone gets the same token for 50 minutes, then a new one")
  func renewal() async throws {
    let first = try await source.current()
    clock.advance(minutes: 49)
    #expect(try await source.current() == first)
    clock.advance(minutes: 1)
    let second = try await source.current()
    #expect(second.generation == first.generation + 1)
    #expect(second.header != first.header)
  }

  @Test("a refusal after 20 minutes renews once, for all lanes that report it")
  func refusedLate() async throws {
    let first = try await source.current()
    clock.advance(minutes: 20)
    let second = try await source.refused(
      generation: first.generation, reason: "ExpiredProviderToken")
    #expect(second.generation == first.generation + 1)
    #expect(
      try await source.refused(generation: first.generation, reason: "ExpiredProviderToken")
        == second)
    #expect(try await source.current() == second)
  }

  @Test("a token refused within 20 minutes of its signing is tried again, later each time")
  func refusedEarly() async throws {
    let first = try await source.current()
    clock.advance(minutes: 5)
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
      let pause = try #require(await refusal(first, "InvalidProviderToken"))
      #expect(pause.resumeAtMs == clock.nowMs + seconds * 1_000)
      #expect(pause.reason.contains("InvalidProviderToken"))
      #expect(pause.reason.contains("clock"))
      #expect(pause.reason.contains("ABC123DEFG"))
      #expect(!pause.reason.contains(first.header!))
      clock.advance(ms: seconds * 1_000 - 1)
      #expect(await currentError() == pause)
      #expect(await refusal(first, "InvalidProviderToken") == pause)
      clock.advance(ms: 1)
      #expect(try await source.current() == first)
    }
    // What was good for some minutes is not suspected for long.
    clock.advance(minutes: 4)
    #expect(
      await refusal(first, "InvalidProviderToken")?.resumeAtMs == clock.nowMs + 1_000)
  }

  @Test("a token that is refused until it can be renewed is renewed then")
  func renewsAfterPauses() async throws {
    let first = try await source.current()
    clock.advance(ms: 20 * 60_000 - 500)
    let pause = try #require(await refusal(first, "InvalidProviderToken"))
    #expect(pause.resumeAtMs == clock.nowMs + 500)
    clock.advance(ms: 500)
    let second = try await source.current()
    #expect(second.generation == first.generation + 1)
    // Refused again at once: it is not renewed in a loop.
    #expect(await refusal(second, "InvalidProviderToken")?.resumeAtMs == clock.nowMs + 2_000)
    clock.advance(ms: 2_000)
    #expect(try await source.current() == second)
  }

  @Test("TooManyProviderTokenUpdates pauses and goes on with the same token")
  func tooManyUpdates() async throws {
    let first = try await source.current()
    clock.advance(minutes: 25)
    let pause = try #require(await refusal(first, "TooManyProviderTokenUpdates"))
    #expect(pause.resumeAtMs == clock.nowMs + 1_000)
    clock.advance(ms: 1_000)
    #expect(try await source.current() == first)
  }

  @Test("a clock that is set back by an hour neither keeps a pause nor a token of the future")
  func clockSetBack() async throws {
    let first = try await source.current()
    #expect(await refusal(first, "InvalidProviderToken") != nil)
    clock.advance(minutes: -60)
    let second = try await source.current()
    #expect(second.generation == first.generation + 1)
    clock.advance(minutes: -60)
    #expect(try await source.current().generation == second.generation + 1)
  }

  @Test("a refused certificate pauses, because nothing can be renewed")
  func certificate() async throws {
    let source = CertificateCredentialSource(file: "dev.p12", clock: clock.wallClock)
    #expect(try await source.current().header == nil)
    let expected = clock.nowMs + 1_000
    for _ in 0..<2 {
      await #expect {
        _ = try await source.refused(generation: 0, reason: "BadCertificate")
      } throws: {
        ($0 as? CredentialError)?.resumeAtMs == expected
          && "\($0)".contains("dev.p12: BadCertificate")
      }
      clock.advance(ms: 400)
    }
    await #expect(throws: CredentialError.self) { try await source.current() }
    clock.advance(ms: 200)
    #expect(try await source.current().header == nil)
  }

  private func refusal(_ credential: Credential, _ reason: String) async -> CredentialError? {
    do {
      _ = try await source.refused(generation: credential.generation, reason: reason)
      return nil
    } catch { return error }
  }

  private func currentError() async -> CredentialError? {
    do {
      _ = try await source.current()
      return nil
    } catch { return error }
  }

  // MARK: Sharing

  private func replica(with other: SigningKey? = nil) -> APNsTokenSource {
    APNsTokenSource(
      key: other ?? key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", clock: clock.wallClock)
  }

  @Test("a key that was replaced under its key id has a token of its own, in whatever form it is")
  func noticesReplacedKey() async throws {
    let folder = try TemporaryFolder()
    let file = try APNsSigningKey(folder: folder.path)
    let other = try SigningKey(file: file.file, algorithm: .es256)
    let fleet = FleetOfTests()
    source.share(through: fleet)
    let first = try await source.current()
    let replaced = replica(with: other)
    replaced.share(through: fleet)
    let header = try #require(try await replaced.current().header)
    #expect(header != first.header)
    let token = try #require(SignedToken(header.dropFirst("bearer ".count)))
    #expect(token.isSigned(by: file.publicKeyPEM))
    #expect(fleet.keys.count == 2)
    #expect(fleet.keys.allSatisfy { $0.hasPrefix("apns:DEF123GHIJ:ABC123DEFG:") })
    // The same key on one line, as variables hold it.
    let pem = try #require(TextFile.read(file.file, bytesMax: 4_096))
    let line = try SigningKey(
      content: Array(pem.replacing("\n", with: "\\n").utf8), file: "a variable",
      algorithm: .es256)
    #expect(line.digest == other.digest && line.digest != key.digest)
  }

  @Test("the token that workers of an older version use is taken, for as long as it lasts")
  func takesFormerToken() async throws {
    let fleet = FleetOfTests()
    let former = SharedToken(token: "former", issuedAtMs: clock.nowMs)
    _ = try await fleet.agree(
      key: "apns:DEF123GHIJ:ABC123DEFG", proposal: former, refused: nil, lifeMs: 60_000)
    source.share(through: fleet)
    #expect(try await source.current().header == "bearer former")
    #expect(try await fleet.current(key: source.shareKey) == former)
    clock.advance(minutes: 50)
    #expect(try await source.current().header != "bearer former")
  }

  @Test("replicas that share use one token, renewed once for all of them (PyAPNs2#85)")
  func sharesOneToken() async throws {
    let fleet = FleetOfTests()
    let other = replica()
    source.share(through: fleet)
    other.share(through: fleet)
    let first = try await source.current()
    #expect(try await other.current().header == first.header)
    clock.advance(minutes: 50)
    fleet.forget()
    let renewed = try await other.current()
    #expect(renewed.header != first.header)
    #expect(try await source.current().header == renewed.header)
  }

  @Test("a refused token is replaced by one replica, and the others take what it signed")
  func sharesRenewalAfterRefusal() async throws {
    let fleet = FleetOfTests()
    let other = replica()
    source.share(through: fleet)
    other.share(through: fleet)
    let first = try await source.current()
    let same = try await other.current()
    clock.advance(minutes: 20)
    let second = try await source.refused(
      generation: first.generation, reason: "ExpiredProviderToken")
    #expect(second.header != first.header)
    clock.advance(minutes: 1)
    // Too early for a renewal of its own: it finds the other's.
    #expect(
      try await other.refused(generation: same.generation, reason: "ExpiredProviderToken").header
        == second.header)
  }

  @Test("a token refused soon after it was signed pauses every replica, and none signs another")
  func sharesPause() async throws {
    let fleet = FleetOfTests()
    source.share(through: fleet)
    let first = try await source.current()
    await #expect(throws: CredentialError.self) {
      try await source.refused(generation: first.generation, reason: "InvalidProviderToken")
    }
    #expect(fleet.agreements == 1)
    clock.advance(ms: 1_000)
    #expect(try await source.current() == first)
    clock.advance(minutes: 20)
    let second = try await source.refused(
      generation: first.generation, reason: "InvalidProviderToken")
    #expect(second.header != first.header)
    #expect(fleet.agreements == 2)
  }
}
