import Providers
import Testing

@testable import Worker

@Suite struct AuthorizationTests {
  private static func authorization() -> Authorization {
    var authorization = Authorization()
    _ = authorization.use(TestDirectory.credential, nowNs: 10)
    return authorization
  }

  @Test("refusals at random never end a credential that most answers accept")
  func survivesRandomRefusals() {
    for percent in [1, 10, 50] as [UInt64] {
      var authorization = Self.authorization()
      var state: UInt64 = 47
      // One accept first: of one that nothing was accepted with yet, fewer refusals are borne.
      authorization.accept(sentNs: 11, nowNs: 12)
      for nowNs in 13..<100_000 as Range<UInt64> {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        if (state >> 33) % 100 < percent {
          _ = authorization.refuse(reason: "ExpiredProviderToken", sentNs: nowNs - 2)
        } else {
          authorization.accept(sentNs: nowNs - 2, nowNs: nowNs)
        }
      }
      #expect(authorization.credential != nil, "\(percent) %")
    }
  }

  @Test("a credential that was good and is refused from now on is given up, once")
  func endsWithTheAccepts() {
    var authorization = Self.authorization()
    for nowNs in 11..<1_000 as Range<UInt64> { authorization.accept(sentNs: 10, nowNs: nowNs) }
    for number in 1...Authorization.provenRefusalsMax {
      #expect(authorization.credential != nil, "after \(number - 1)")
      _ = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 1_000)
    }
    #expect(authorization.credential == nil && authorization.refusal?.generation == 1)
    // Those that were under way say nothing more.
    #expect(authorization.refuse(reason: "InvalidProviderToken", sentNs: 1_000) == .heeded)
    #expect(authorization.refusal?.reason == "ExpiredProviderToken")
  }

  @Test("one that nothing was accepted with is given up sooner")
  func endsUnproven() {
    var authorization = Self.authorization()
    for _ in 0..<Authorization.unprovenRefusalsMax {
      _ = authorization.refuse(reason: "InvalidProviderToken", sentNs: 11)
    }
    #expect(authorization.credential == nil)
  }

  @Test("a refusal is isolated when others were accepted after its request was sent, else doubted")
  func tellsIsolated() {
    var authorization = Self.authorization()
    #expect(authorization.refuse(reason: "ExpiredProviderToken", sentNs: 11) == .doubted)
    authorization.accept(sentNs: 12, nowNs: 20)
    #expect(authorization.refuse(reason: "ExpiredProviderToken", sentNs: 19) == .isolated)
    #expect(authorization.refuse(reason: "ExpiredProviderToken", sentNs: 21) == .doubted)
  }

  @Test("what was sent with an older credential says nothing of the one in use")
  func forgetsTheOld() {
    var authorization = Self.authorization()
    _ = authorization.use(
      Credential(header: nil, generation: 2, expiresAtMs: .max, refreshAtMs: .max), nowNs: 50)
    for _ in 0..<Authorization.provenRefusalsMax {
      #expect(authorization.refuse(reason: "ExpiredProviderToken", sentNs: 49) == .heeded)
    }
    authorization.accept(sentNs: 49, nowNs: 60)
    #expect(authorization.refuse(reason: "ExpiredProviderToken", sentNs: 51) == .doubted)
  }
}
