import LocalServices
import Model
import Testing

@testable import Simulator

@Suite("What the simulated APNs refuses")
struct APNsCheckTests {
  @Test("a push that keeps every rule is accepted, and again from the caches")
  func accepts() {
    var fixture = NetworksFixture()
    #expect(fixture.send() == "200")
    #expect(fixture.send() == "200")
    #expect(fixture.counters.providerTokenVerifications == 1)
    #expect(fixture.connection.isAuthorised)
  }

  @Test(
    "a wrong path, method or token is refused with Apple's reason",
    arguments: [
      ("GET", "/3/device/abcdef00", "405 MethodNotAllowed"),
      ("POST", "/3/devices/abcdef00", "404 BadPath"),
      ("POST", "/3/device/", "400 MissingDeviceToken"),
      ("POST", "/3/device", "400 MissingDeviceToken"),
      ("POST", "/3/device/abcdefgh", "400 BadDeviceToken"),
      ("POST", "/3/device/abcdef0", "400 BadDeviceToken"),
      ("POST", "/3/device/abcdef00?x", "400 BadDeviceToken"),
    ])
  func refusesPaths(method: String, path: String, expected: String) {
    var fixture = NetworksFixture()
    fixture.method = method
    fixture.path = path
    #expect(fixture.send() == expected)
  }

  @Test(
    "a wrong header is refused with Apple's reason",
    arguments: [
      ("apns-topic", nil, "400 MissingTopic"),
      ("apns-topic", "com.example.other", "400 TopicDisallowed"),
      ("apns-topic", "com.example/shop", "400 BadTopic"),
      ("apns-push-type", "loud", "400 InvalidPushType"),
      ("apns-push-type", "voip", "400 TopicDisallowed"),
      ("apns-priority", "7", "400 BadPriority"),
      ("apns-expiration", "tomorrow", "400 BadExpirationDate"),
      ("apns-collapse-id", String(repeating: "x", count: 65), "400 BadCollapseId"),
      ("apns-id", "12", "400 BadMessageId"),
      ("authorization", nil, "403 MissingProviderToken"),
      ("authorization", "bearer a.b.c", "403 InvalidProviderToken"),
      ("apns-collapse-id", String(repeating: "x", count: 64), "200"),
      ("apns-priority", "10", "200"),
    ] as [(String, String?, String)])
  func refusesHeaders(name: String, value: String?, expected: String) {
    var fixture = NetworksFixture()
    // Once in good order first: the caches must not hide the fault.
    #expect(fixture.send() == "200")
    fixture.setHeader(name, value)
    #expect(fixture.send() == expected)
  }

  @Test("a background push with priority 10 is refused, with 5 accepted")
  func checksBackgroundPriority() {
    var fixture = NetworksFixture()
    fixture.setHeader("apns-push-type", "background")
    fixture.setHeader("apns-priority", "10")
    #expect(fixture.send() == "400 BadPriority")
    fixture.setHeader("apns-priority", "5")
    #expect(fixture.send() == "200")
  }

  @Test("a header that comes twice is refused")
  func refusesDuplicates() {
    var fixture = NetworksFixture()
    fixture.headers.append(("apns-topic", "com.example.shop"))
    #expect(fixture.send() == "400 DuplicateHeaders")
  }

  @Test("an empty payload, one that is no JSON object, and one too large are refused")
  func refusesPayloads() {
    var fixture = NetworksFixture()
    func payload(_ count: Int) -> String {
      "{\"a\":\"" + String(repeating: "x", count: count - 8) + "\"}"
    }
    for body in ["", "[]", "{", "{\"a\":1,}", "{\"a\":01}", "nonsense"] {
      fixture.body = body
      #expect(fixture.send() == "400 PayloadEmpty", "\(body)")
    }
    fixture.body = payload(4_096)
    #expect(fixture.send() == "200")
    fixture.body = payload(4_097)
    #expect(fixture.send() == "413 PayloadTooLarge")
    fixture.setHeader("apns-push-type", "voip")
    fixture.setHeader("apns-topic", "com.example.shop.voip")
    #expect(fixture.send() == "200")
    fixture.body = payload(5_121)
    #expect(fixture.send() == "413 PayloadTooLarge")
  }

  @Test("a token of the other environment is a BadDeviceToken")
  func separatesEnvironments() {
    var script = SimulatorScript()
    script.developmentTokenPrefix = "00"
    var production = NetworksFixture(script: script)
    var development = NetworksFixture(script: script, environment: .development)
    #expect(production.send() == "400 BadDeviceToken")
    #expect(development.send() == "200")
    production.path = "/3/device/11223344"
    development.path = "/3/device/11223344"
    #expect(production.send() == "200")
    #expect(development.send() == "400 BadDeviceToken")
  }
}
