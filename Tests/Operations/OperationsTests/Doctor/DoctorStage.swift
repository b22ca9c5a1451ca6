import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Simulator
import Stage
import TestSupport

/// A stage on which the doctor looks at an app "shop" that has every network, played by a simulator in this process.
struct DoctorStage {
  let stage: Stage
  let lane: TestLane

  /// - Parameters:
  ///   - server: the Redis.
  ///   - script: how the networks misbehave.
  static func with<Result>(
    _ server: RedisServer.Options = RedisServer.Options(),
    script: SimulatorScript = SimulatorScript(), _ body: (DoctorStage) async throws -> Result
  ) async throws -> Result {
    try await Stage.with(server) { stage in
      let keys = stage.keys
      var options = SimulatorOptions(
        certificateFile: keys.certificate.certificateFile, keyFile: keys.certificate.keyFile)
      options.port = stage.port
      options.accounts.apnsKeys = [
        KnownAPNsKey(
          keyID: keys.apnsKey.keyID, teamID: keys.apnsKey.teamID, file: keys.apnsKey.file)
      ]
      options.accounts.topics = [NetworkKeys.topic]
      options.accounts.serviceAccountFiles = [keys.serviceAccount.file]
      options.accounts.jpushApps = [
        KnownJPushApp(appKey: keys.jpushApp.appKey, secretFile: keys.jpushApp.file)
      ]
      options.script = script
      let simulator = Simulator(options: options)
      try simulator.start()
      defer { simulator.stop() }
      return try await body(DoctorStage(stage: stage, lane: try TestLane()))
    }
  }

  /// The configuration of the app.
  var text: ConfigurationText {
    let place = stage.endpoint
    var text = ConfigurationText(
      redisURL: stage.redis.url,
      apps: [
        .init(apns: [.production: place], others: ConfigurationText.App.others(at: place))
      ])
    text.acceptedRisks = [.noAppendOnlyFile]
    return text
  }

  /// Looks at all, by the text of a configuration.
  /// - Parameters:
  ///   - app: the only one to ask about; nil for all.
  ///   - answerMs: how long a network has for its answer.
  func diagnosis(
    of text: String, isOffline: Bool = false, app: String? = nil,
    answerMs: UInt64 = OperationsLimits.networkAnswerMs
  ) async throws -> Diagnosis {
    let file = stage.folder.file("doctor.yaml")
    try PrivateFile.write(text, to: file)
    let doctor = Doctor(
      ConfigurationCheck(file: file, environment: [:], for: .worker), isOffline: isOffline,
      app: app, for: StoreSession.Client(name: "test", version: "0"), on: lane.loop,
      answerMs: answerMs)
    return await doctor.examine { _, _ in }
  }

  func diagnosis() async throws -> Diagnosis { try await diagnosis(of: text.text(stage.keys)) }
}

extension Diagnosis {
  /// The findings about a subject.
  func about(_ subject: String) -> [DoctorFinding] { findings.filter { $0.subject == subject } }

  /// Whether there is such a finding whose sentence holds the words.
  func has(_ severity: DoctorFinding.Severity, _ subject: String, _ words: String) -> Bool {
    about(subject).contains { $0.severity == severity && $0.sentence.contains(words) }
  }
}
