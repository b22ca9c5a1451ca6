import Testing

@testable import Model

@Suite struct NetworkTests {
  @Test("each network has a place of its own in tables, in the order of its list")
  func indices() {
    #expect(Network.allCases.map(\.index) == Array(Network.allCases.indices))
  }

  @Test("there is a place for each network in each environment, and no other")
  func places() {
    let places = Network.allCases.flatMap { network in
      PushEnvironment.allCases.map { network.place(in: $0) }
    }
    #expect(Set(places) == Set(0..<Network.allCases.count * PushEnvironment.allCases.count))
    #expect(Network.Places<Int>(repeating: 0).count == places.count)
  }

  @Test("sentences list the networks")
  func lists() {
    #expect(Network.alternatives == "apns, fcm or jpush")
    #expect(Network.displayNames == "APNs, FCM and JPush")
    #expect(Network.namesOfCheckers == "FCM and JPush")
    #expect([String]().list(before: "or") == "")
    #expect(["one"].list(before: "or") == "one")
    #expect(["one", "two"].list(before: "or") == "one or two")
  }

  @Test("the token that no device has is in the network's form", arguments: Network.allCases)
  func absentToken(network: Network) throws {
    let token = network.traits.absentToken
    #expect(try DeviceToken(token, network: network).text == token)
  }

  @Test("a job may have a part for each network", arguments: Network.allCases)
  func parts(network: Network) {
    #expect(JobContent.fields.contains(network.rawValue))
    #expect(network.traits.sendableField.hasPrefix(network.rawValue))
  }

  @Test(
    "the regular expression of a network's tokens says what its rule says, but for their length")
  func patterns() throws {
    let texts = [
      "aabbccdd", "AABBccdd", "aabbccdde", "aabbccdg", "a.b.c.d.", ".a.b.c.d", "aa..ccdd",
      "aabbccdd..", "c-A_b:x~y=z+%", "aabb ccdd", "aabb/ccdd", "aabbccdé",
    ]
    for network in Network.allCases {
      let pattern = try Regex(network.traits.token.pattern)
      for text in texts {
        let isToken = (try? DeviceToken(text, network: network)) != nil
        #expect((text.wholeMatch(of: pattern) != nil) == isToken, "\(network) \(text)")
      }
    }
  }
}
