internal import LocalServices
internal import Model
internal import Simulator

/// The simulated APNs and FCM of the demo, and the configuration that leads a worker to them.
struct DemoNetworks {
  let simulator: Simulator
  let configurationFile: String

  /// How long each answer takes: some milliseconds, as from a data centre nearby.
  private static let answerMs: UInt64 = 20
  private static let hourMs: Int64 = 3_600_000
  private static let refusedStream: UInt32 = 7

  static func start(
    _ campaign: DemoCampaign, folder: TemporaryFolder, redisURL: String
  ) throws -> DemoNetworks {
    let authority = try CertificateAuthority(folder: folder.path)
    let certificate = try authority.issueServer()
    let key = try APNsSigningKey(folder: folder.path)
    // The worker is told the real address by `token_endpoint`: the port is not known yet.
    let account = try FCMServiceAccount(folder: folder.path, tokenURI: "https://localhost/token")
    var options = SimulatorOptions(
      certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
    options.apnsKeys = [KnownAPNsKey(keyID: key.keyID, teamID: key.teamID, file: key.file)]
    options.topics = [DemoCampaign.topic]
    options.serviceAccountFiles = [account.file]
    options.script = script(campaign)
    let simulator = Simulator(options: options)
    try simulator.start()
    let file = folder.file("pushpool.yaml")
    let access =
      "endpoint: https://localhost:\(simulator.port), ca_file: \(authority.certificateFile)"
    try PrivateFile.write(
      """
      redis: {url: \(redisURL)}
      worker: {drain_seconds: 5, lease_seconds: 4}
      apps:
        - id: \(DemoCampaign.app)
          apns:
            production: {key_file: \(key.file), key_id: \(key.keyID), team_id: \(key.teamID), \
      topic: \(DemoCampaign.topic), \(access)}
          fcm: {service_account_file: \(account.file), messages_per_minute: 100000000, \(access), \
      token_endpoint: https://localhost:\(simulator.port)/token}

      """, to: file)
    return DemoNetworks(simulator: simulator, configurationFile: file)
  }

  private static func script(_ campaign: DemoCampaign) -> SimulatorScript {
    var script = SimulatorScript()
    script.delayMs = answerMs
    // FCM's documentation asks for 10 s before a retry, which would be most of the demo; a refused stream may be
    // sent again at once (RFC 9113, 8.7).
    var refused = ScriptRule(
      tokenPrefix: DemoCampaign.Prefix.busyFCM, action: .reset, times: campaign.busyCount(.fcm))
    refused.resetCode = refusedStream
    script.rules = [
      // The devices were lost after they had been installed, which was yesterday.
      ScriptRule(
        tokenPrefix: DemoCampaign.Prefix.deadAPNs, network: .apns, status: 410,
        reason: "Unregistered", timestampMs: InstantText.nowMs() - hourMs),
      ScriptRule(
        tokenPrefix: DemoCampaign.Prefix.deadFCM, network: .fcm, status: 404,
        reason: "UNREGISTERED"),
      ScriptRule(
        tokenPrefix: DemoCampaign.Prefix.busyAPNs, network: .apns, status: 503,
        reason: "ServiceUnavailable", times: campaign.busyCount(.apns)),
      refused,
    ]
    return script
  }
}
