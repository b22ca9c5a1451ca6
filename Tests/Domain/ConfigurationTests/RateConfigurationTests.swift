import PushpoolConfiguration
import Testing

@Suite struct RateConfigurationTests {
  private static func app(_ more: String, fcm: String = "") -> String {
    "apps: [{id: shop, \(more) fcm: {service_account_file: f\(fcm)}}]"
  }

  @Test("rates are read, and have Google's and no default")
  func rates() throws {
    let usual = try #require(try ConfigurationTests.parse(Self.app("")).app("shop"))
    #expect(usual.pushesPerSecond == nil)
    #expect(usual.eventsPerMinute == 600)
    #expect(usual.fcm?.messagesPerMinute == 600_000)
    let yaml = Self.app(
      "pushes_per_second: 500, events_per_minute: 0,", fcm: ", messages_per_minute: 1200000")
    let own = try #require(try ConfigurationTests.parse(yaml).app("shop"))
    #expect(own.pushesPerSecond == 500)
    #expect(own.eventsPerMinute == 0)
    #expect(own.fcm?.messagesPerMinute == 1_200_000)
    let environment = [
      "PUSHPOOL_APPS_SHOP_PUSHES_PER_SECOND": "7",
      "PUSHPOOL_APPS_SHOP_EVENTS_PER_MINUTE": "6000",
      "PUSHPOOL_APPS_SHOP_FCM_MESSAGES_PER_MINUTE": "60",
    ]
    let set = try #require(try ConfigurationTests.parse(yaml, environment).app("shop"))
    #expect(set.pushesPerSecond == 7)
    #expect(set.eventsPerMinute == 6_000)
    #expect(set.fcm?.messagesPerMinute == 60)
  }

  @Test(
    "a rate out of range is refused with what to do",
    arguments: [
      (
        app("pushes_per_second: 0,"),
        "apps[0].pushes_per_second: must not be 0: nothing would ever be sent"
      ),
      (
        app("pushes_per_second: 1000001,"),
        "apps[0].pushes_per_second: must be a whole number from 1 to 1000000"
      ),
      (
        app("events_per_minute: 1000001,"),
        "apps[0].events_per_minute: must be a whole number from 0 to 1000000"
      ),
      (
        app("", fcm: ", messages_per_minute: 0"),
        "apps[0].fcm.messages_per_minute: must not be 0: nothing would ever be sent"
      ),
      (
        app("", fcm: ", messages_per_minute: many"),
        "apps[0].fcm.messages_per_minute: must be a whole number from 1 to 100000000"
      ),
    ])
  func refused(yaml: String, complaint: String) {
    #expect(ConfigurationTests.complaint(yaml).contains(complaint))
  }
}
