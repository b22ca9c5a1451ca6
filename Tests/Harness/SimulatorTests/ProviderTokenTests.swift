import Model
import Testing

@testable import Simulator

@Suite("Provider tokens at the simulated APNs")
struct ProviderTokenTests {
  @Test("a token signed by another key, or claiming another team or key, is invalid")
  func refusesForgeries() {
    var fixture = NetworksFixture()
    let stranger = SigningKey(.ellipticCurve).providerToken(
      keyID: "KEY4567890", teamID: "TEAM567890", issuedAt: NetworksFixture.now)
    let tokens = [
      stranger, fixture.providerToken(keyID: "OTHER67890"),
      fixture.providerToken(teamID: "OTHER67890"), fixture.providerToken(age: -4_000),
    ]
    for token in tokens {
      fixture.setHeader("authorization", "bearer \(token)")
      #expect(fixture.send() == "403 InvalidProviderToken")
    }
    #expect(!fixture.connection.isAuthorised)
  }

  @Test("a key that was replaced under its id and the one before both sign")
  func knowsReplacedKey() throws {
    var fixture = NetworksFixture(script: SimulatorScript.freely)
    let other = SigningKey(.ellipticCurve)
    let known = KnownAPNsKey(keyID: "KEY4567890", teamID: "TEAM567890", file: "")
    let verifier = ProviderTokenVerifier(
      keys: try [fixture.key, other].map {
        (known, try VerificationKey(pem: $0.publicPEM, name: "test key"))
      })
    fixture.networks = PushNetworks(
      script: SimulatorScript.freely,
      apns: APNsNetwork(environment: .production, provider: verifier))
    for key in [fixture.key, other] {
      let token = key.providerToken(
        keyID: known.keyID, teamID: known.teamID, issuedAt: NetworksFixture.now)
      fixture.setHeader("authorization", "bearer \(token)")
      #expect(fixture.send() == "200")
    }
  }

  @Test("a token expires one hour after it was issued, even when it was accepted before")
  func expires() {
    var fixture = NetworksFixture()
    fixture.setHeader("authorization", "bearer \(fixture.providerToken(age: 0))")
    #expect(fixture.send(at: NetworksFixture.now + 3_599) == "200")
    #expect(fixture.send(at: NetworksFixture.now + 3_600) == "403 ExpiredProviderToken")
  }

  @Test("a team that changes its token within 20 minutes is told so, later it may")
  func limitsUpdates() {
    var fixture = NetworksFixture()
    #expect(fixture.send() == "200")
    let first = fixture.headers.first { $0.0 == "authorization" }?.1
    fixture.setHeader("authorization", "bearer \(fixture.providerToken(age: 1))")
    #expect(fixture.send() == "429 TooManyProviderTokenUpdates")
    fixture.setHeader("authorization", first)
    #expect(fixture.send() == "200")
    fixture.setHeader("authorization", "bearer \(fixture.providerToken(age: 1))")
    #expect(fixture.send(at: NetworksFixture.now + 1_200) == "200")
  }

  @Test("a script may switch the limit on token changes off")
  func limitIsScripted() {
    var script = SimulatorScript()
    script.providerTokenIntervalSeconds = 0
    var fixture = NetworksFixture(script: script)
    #expect(fixture.send() == "200")
    fixture.setHeader("authorization", "bearer \(fixture.providerToken(age: 1))")
    #expect(fixture.send() == "200")
  }

  @Test("a connection with a client certificate needs no provider token")
  func takesCertificates() {
    var fixture = NetworksFixture()
    fixture.setHeader("authorization", nil)
    fixture.connection.hasClientCertificate = true
    #expect(fixture.send() == "200")
  }
}

extension SimulatorScript {
  /// Tokens may change at will.
  fileprivate static var freely: SimulatorScript {
    var script = SimulatorScript()
    script.providerTokenIntervalSeconds = 0
    return script
  }
}
