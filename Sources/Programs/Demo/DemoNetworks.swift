internal import LocalServices
internal import Model
internal import Stage
internal import Typesetting

/// The push networks of the demo: how they behave, and the configuration that leads a worker to them.
struct DemoNetworks {
  let campaign: DemoCampaign

  /// How long each answer takes: some milliseconds, as from a data centre nearby.
  private static let answerMs = 20
  private static let hourMs: Int64 = 3_600_000
  private static let refusedStream = 7

  var options: SimulatorProcess.Options {
    var options = SimulatorProcess.Options(script: script)
    options.topics = [NetworkKeys.topic]
    return options
  }

  func configuration(_ stage: Stage) -> ConfigurationText {
    var configuration = ConfigurationText(
      redisURL: stage.redis.url,
      apps: [
        ConfigurationText.App(
          id: DemoCampaign.app, apns: [.production: stage.endpoint],
          others: ConfigurationText.App.others(at: stage.endpoint),
          messagesPerMinute: DemoLimits.messagesPerMinute)
      ])
    // The stage's Redis is gone with it.
    configuration.acceptedRisks = [.noAppendOnlyFile]
    configuration.worker = ["drain_seconds: 5", "lease_seconds: 4"]
    return configuration
  }

  /// The rules for what the simulator answers beside yes, as `pushpool-simulator --help` has it.
  private var script: String {
    let rules: [JSONObject] = [
      // The devices were lost after they had been installed, which was yesterday.
      [
        "token_prefix": .string(DemoCampaign.Prefix.deadAPNs), "network": .string("apns"),
        "status": .integer(410), "reason": .string("Unregistered"),
        "timestamp_ms": .integer(InstantText.nowMs() - Self.hourMs),
      ],
      [
        "token_prefix": .string(DemoCampaign.Prefix.deadFCM), "network": .string("fcm"),
        "status": .integer(404), "reason": .string("UNREGISTERED"),
      ],
      [
        "token_prefix": .string(DemoCampaign.Prefix.busyAPNs), "network": .string("apns"),
        "status": .integer(503), "reason": .string("ServiceUnavailable"),
        "times": .integer(campaign.busyCount(.apns)),
      ],
      // FCM's documentation asks for 10 s before a retry, which would be most of the demo; a refused stream may be
      // sent again at once (RFC 9113, 8.7).
      [
        "token_prefix": .string(DemoCampaign.Prefix.busyFCM), "action": .string("reset"),
        "network": .string("fcm"), "reset_code": .integer(Self.refusedStream),
        "times": .integer(campaign.busyCount(.fcm)),
      ],
      [
        "token_prefix": .string(DemoCampaign.Prefix.deadJPush), "network": .string("jpush"),
        "status": .integer(400), "reason": .string("1011"),
      ],
    ]
    let script: JSONObject = [
      "delay_ms": .integer(Self.answerMs), "rules": .array(rules.map { .object($0) }),
    ]
    return JSONValue.object(script).text()
  }
}
