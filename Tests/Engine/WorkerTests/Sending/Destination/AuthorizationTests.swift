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
          _ = authorization.refuse(
            reason: "ExpiredProviderToken", sentNs: nowNs - 2, nowNs: nowNs)
        } else {
          authorization.accept(sentNs: nowNs - 2, nowNs: nowNs)
        }
      }
      #expect(authorization.credential != nil, "\(percent) %")
    }
  }

  @Test(
    "of answers that came together those that refuse may all come first, or last",
    arguments: [true, false])
  func survivesBursts(refusalsFirst: Bool) {
    var authorization = Self.authorization()
    authorization.accept(sentNs: 11, nowNs: 12)
    for round in 1...100 as ClosedRange<UInt64> {
      // Sent together, when all of the last round are answered.
      let (sentNs, nowNs) = (100 * round, 100 * round + 50)
      let refusals = { (authorization: inout Authorization) in
        for _ in 0..<800 {
          _ = authorization.refuse(
            reason: "ExpiredProviderToken", sentNs: sentNs, nowNs: nowNs)
        }
      }
      if refusalsFirst { refusals(&authorization) }
      for _ in 0..<200 { authorization.accept(sentNs: sentNs, nowNs: nowNs) }
      if !refusalsFirst { refusals(&authorization) }
      #expect(authorization.credential != nil, "round \(round)")
    }
  }

  @Test("a credential is given up that nearly all servers refuse while a few still accept it")
  func endsSlowly() {
    var authorization = Self.authorization()
    for nowNs in 1_000..<1_000_000 as Range<UInt64> where authorization.credential != nil {
      if nowNs % 20 == 0 {
        authorization.accept(sentNs: nowNs - 500, nowNs: nowNs)
      } else {
        _ = authorization.refuse(
          reason: "InvalidProviderToken", sentNs: nowNs - 500, nowNs: nowNs)
      }
    }
    #expect(authorization.credential == nil)
  }

  @Test("a credential that was good and is refused from now on is given up, once")
  func endsWithTheAccepts() {
    var authorization = Self.authorization()
    for nowNs in 11..<1_000 as Range<UInt64> { authorization.accept(sentNs: 10, nowNs: nowNs) }
    for number in 1...Authorization.provenRefusalsMax {
      #expect(authorization.credential != nil, "after \(number - 1)")
      _ = authorization.refuse(
        reason: "ExpiredProviderToken", sentNs: 1_000 + UInt64(number),
        nowNs: 1_000 + UInt64(number))
    }
    #expect(authorization.credential == nil && authorization.refusal?.generation == 1)
    // Those that were under way say nothing more.
    let meaning1 = authorization.refuse(reason: "InvalidProviderToken", sentNs: 1_000, nowNs: 2_000)
    #expect(meaning1 == .heeded)
    #expect(authorization.refusal?.reason == "ExpiredProviderToken")
  }

  @Test("one that nothing was accepted with is given up sooner")
  func endsUnproven() {
    var authorization = Self.authorization()
    for _ in 0..<Authorization.unprovenRefusalsMax {
      _ = authorization.refuse(reason: "InvalidProviderToken", sentNs: 12, nowNs: 12)
    }
    #expect(authorization.credential == nil)
  }

  @Test("a refusal is isolated when others were accepted after its request was sent, else doubted")
  func tellsIsolated() {
    var authorization = Self.authorization()
    let meaning2 = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 11, nowNs: 12)
    #expect(meaning2 == .doubted)
    authorization.accept(sentNs: 12, nowNs: 20)
    let meaning3 = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 19, nowNs: 21)
    #expect(meaning3 == .isolated)
    let meaning4 = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 21, nowNs: 22)
    #expect(meaning4 == .doubted)
  }

  @Test("what was sent with an older credential says nothing of the one in use")
  func forgetsTheOld() {
    var authorization = Self.authorization()
    _ = authorization.use(
      Credential(header: nil, generation: 2, expiresAtMs: .max, refreshAtMs: .max), nowNs: 50)
    for _ in 0..<Authorization.provenRefusalsMax {
      let meaning5 = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 49, nowNs: 55)
      #expect(meaning5 == .heeded)
    }
    authorization.accept(sentNs: 49, nowNs: 60)
    let meaning6 = authorization.refuse(reason: "ExpiredProviderToken", sentNs: 51, nowNs: 61)
    #expect(meaning6 == .doubted)
  }
}
