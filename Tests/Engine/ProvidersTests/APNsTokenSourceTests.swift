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

  @Test(
    "a token that cannot be renewed is used for as long as APNs takes it, and renewed when it can be"
  )
  func lasts() async throws {
    let fleet = FleetOfTests(clock)
    source.share(through: fleet)
    let first = try await source.current()
    fleet.setAway(true)
    clock.advance(minutes: 50)
    #expect(try await source.current() == first)
    clock.advance(minutes: 8)
    #expect(try await source.current() == first)
    clock.advance(minutes: 1)
    await #expect(throws: CredentialError.self) { try await source.current() }
    fleet.setAway(false)
    let second = try await source.current()
    #expect(second.generation == first.generation + 1)
    // One that APNs refuses is not gone on with.
    clock.advance(minutes: 50)
    fleet.setAway(true)
    #expect(try await source.current() == second)
    await #expect(throws: CredentialError.self) {
      try await source.refused(generation: second.generation, reason: "ExpiredProviderToken")
    }
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
    let source = CertificateCredentialSource(.file("dev.p12"), clock: clock.wallClock)
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

  private static let formerName = "apns:DEF123GHIJ:ABC123DEFG"

  /// A token that another process has signed.
  private func signed(by other: SigningKey? = nil) async throws -> SharedToken {
    let header = try #require(try await replica(with: other).current().header)
    return SharedToken(token: String(header.dropFirst("bearer ".count)), issuedAtMs: clock.nowMs)
  }

  /// The header that a worker of a version before 0.4.0 has: it knows the former name alone.
  private func olderHeader(in fleet: FleetOfTests) async throws -> String {
    let proposal = try await signed()
    let lifeMs = CredentialLimits.apnsRefreshAfterMs
    var agreed = try await fleet.agree(
      key: Self.formerName, proposal: proposal, refused: nil, lifeMs: lifeMs)
    if clock.nowMs - agreed.issuedAtMs >= lifeMs {
      agreed = try await fleet.agree(
        key: Self.formerName, proposal: proposal, refused: agreed, lifeMs: lifeMs)
    }
    return "bearer \(agreed.token)"
  }

  @Test(
    "in a fleet with workers of an older version all have one token, whoever renews it",
    arguments: [0, 1, 2])
  func sharesWithOlder(place: Int) async throws {
    let fleet = FleetOfTests(clock)
    let other = replica()
    source.share(through: fleet)
    other.share(through: fleet)
    var last = try await olderHeader(in: fleet)
    clock.advance(minutes: 30)
    for replica in [source, other] { #expect(try await replica.current().header == last) }
    clock.advance(minutes: 20)
    for _ in 0..<3 {
      var headers = [try await place == 0 ? olderHeader(in: fleet) : source.current().header]
      headers.append(try await place == 1 ? olderHeader(in: fleet) : other.current().header)
      headers.append(try await olderHeader(in: fleet))
      for replica in [source, other] { headers.append(try await replica.current().header) }
      #expect(Set(headers).count == 1 && headers[0] != last, "\(headers)")
      last = try #require(headers[0])
      clock.advance(minutes: 50)
    }
  }

  @Test("a refused token is replaced for workers of an older version, too")
  func replacesForOlder() async throws {
    let fleet = FleetOfTests(clock)
    source.share(through: fleet)
    let first = try await olderHeader(in: fleet)
    clock.advance(minutes: 25)
    let taken = try await source.current()
    #expect(taken.header == first)
    let second = try await source.refused(
      generation: taken.generation, reason: "ExpiredProviderToken")
    #expect(second.header != first)
    #expect(try await olderHeader(in: fleet) == second.header)
  }

  @Test("a token of an older worker that joined later is taken where APNs refuses the own")
  func takesOlder() async throws {
    let fleet = FleetOfTests(clock)
    source.share(through: fleet)
    let own = try await source.current()
    clock.advance(minutes: 25)
    let older = try await olderHeader(in: fleet)
    #expect(older != own.header)
    let taken = try await source.refused(
      generation: own.generation, reason: "TooManyProviderTokenUpdates")
    #expect(taken.header == older)
    #expect(try await source.current().header == older)
  }

  @Test("what the fleet has under the former name is left alone when another key has signed it")
  func leavesOtherKey() async throws {
    let folder = try TemporaryFolder()
    let file = try APNsSigningKey(folder: folder.path)
    let other = try await signed(by: try SigningKey(file: file.file, algorithm: .es256))
    let fleet = FleetOfTests(clock)
    for former in [other, SharedToken(token: "none", issuedAtMs: clock.nowMs)] {
      fleet.forget()
      _ = try await fleet.agree(
        key: Self.formerName, proposal: former, refused: nil, lifeMs: 60_000)
      let source = replica()
      source.share(through: fleet)
      let header = try #require(try await source.current().header)
      let token = try #require(SignedToken(header.dropFirst("bearer ".count)))
      #expect(token.isSigned(by: publicKeyPEM))
      #expect(try await fleet.current(key: Self.formerName) == former)
      #expect(fleet.lifeMs(key: source.shareKey) == CredentialLimits.apnsRefreshAfterMs)
    }
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
