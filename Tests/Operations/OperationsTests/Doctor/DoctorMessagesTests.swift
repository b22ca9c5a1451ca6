import Glibc
import HTTPClient
import LocalServices
import Model
import Providers
import PushpoolConfiguration
import Reactor
import Redis
import Simulator
import Stage
import Store
import Testing
import TestSupport

@testable import Operations

/// Messages of the doctor that no other test of it provokes: what fails on the way, and what is seldom so.
@Suite struct DoctorMessagesTests {
  private static let apns = "shop apns production"

  /// Looks at an app whose networks are at a place of their own.
  private static func diagnosis(
    _ stage: DoctorStage, at place: String, answerMs: UInt64 = OperationsLimits.networkAnswerMs
  ) async throws -> Diagnosis {
    var text = stage.text
    text.apps[0] = .init(
      apns: [.production: place], others: ConfigurationText.App.others(at: place))
    return try await stage.diagnosis(of: text.text(stage.stage.keys), answerMs: answerMs)
  }

  // MARK: On the way

  @Test(
    "a name that no server knows is told of each network, and the name server is to be looked at")
  func name() async throws {
    try await DoctorStage.with { stage in
      // A label of more than 63 bytes: nobody is asked for it.
      let host = String(repeating: "x", count: 64) + ".example"
      let diagnosis = try await Self.diagnosis(stage, at: "https://\(host)")
      for network in [Self.apns, "shop fcm", "shop jpush"] {
        #expect(
          diagnosis.has(.error, network, "for looking its name up failed"),
          "\(diagnosis.about(network))")
        #expect(
          diagnosis.about(network).contains { $0.remedy?.contains("name server") == true })
      }
    }
  }

  @Test("a server without HTTP/2 is told as such", arguments: [[], ["http/1.1"]])
  func http2(alpn: [String]) async throws {
    try await DoctorStage.with { stage in
      let certificate = stage.stage.keys.certificate
      let other = try TestLane()
      let diagnosis = try await other.run { lane in
        let server = try HTTP1Server(
          loop: lane.loop,
          tls: try TLSContext.server(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile, alpn: alpn)
        ) { _ in HTTP1Server.response() }
        defer { server.close() }
        return try await Self.diagnosis(stage, at: "https://localhost:\(server.port)")
      }
      #expect(
        diagnosis.has(
          .error, Self.apns,
          "APNs cannot be reached, for HTTP/2 failed: TLS: the peer speaks none of the protocols"),
        "\(diagnosis.about(Self.apns))")
      let remedy = diagnosis.about(Self.apns).compactMap(\.remedy).first
      #expect(remedy?.hasPrefix("check the endpoint") == true, "\(remedy ?? "")")
    }
  }

  @Test("a server that takes the connection and says nothing is named by what it owes: TLS")
  func silentTLS() async throws {
    let server = LocalServer { _ in "" }
    defer { server.close() }
    try await DoctorStage.with { stage in
      let diagnosis = try await Self.diagnosis(
        stage, at: "https://127.0.0.1:\(server.port)", answerMs: 3_000)
      #expect(
        diagnosis.has(.error, Self.apns, "for TLS failed: no answer from 127.0.0.1"),
        "\(diagnosis.about(Self.apns))")
    }
  }

  @Test(
    "a request without an answer, one that is taken back, and one that is called malformed are told apart",
    arguments: [
      // Long before the transport gives up a request.
      (ScriptRule.Action.stall, 0, 5_000, "there was no answer in time"),
      (.reset, 2, 60_000, "the request was not answered"),
      (.reset, 1, 60_000, "the request was called malformed"),
    ] as [(ScriptRule.Action, UInt32, UInt64, String)])
  func unanswered(
    action: ScriptRule.Action, code: UInt32, answerMs: UInt64, words: String
  ) async throws {
    var rule = ScriptRule()
    rule.network = .apns
    rule.action = action
    rule.resetCode = code
    var script = SimulatorScript()
    script.rules = [rule]
    try await DoctorStage.with(script: script) { stage in
      let diagnosis = try await stage.diagnosis(
        of: stage.text.text(stage.stage.keys), answerMs: answerMs)
      #expect(
        diagnosis.has(.error, Self.apns, "APNs cannot be reached, for HTTP/2 failed: \(words)"),
        "\(diagnosis.about(Self.apns))")
    }
  }

  @Test("a request that cannot be made is an error of the app")
  func noRequest() async throws {
    let lane = try TestLane()
    let client = HTTPClient()
    defer { client.shutdown() }
    let provider = APNsProvider(
      topic: "com.example\n", destination: try Self.closed(), credentials: Self.certificate(1))
    let findings = await NetworkExamination(
      Self.entry(0, provider), authorities: .none, client: client, clock: .system,
      loop: lane.loop, answerMs: 1_000
    ).findings()
    #expect(findings.count == 1 && findings[0].severity == .error)
    #expect(
      findings[0].sentence.hasPrefix("no request can be made: /apns/topic: must be printable"))
  }

  // MARK: Many

  private static func closed() throws -> PushDestination {
    PushDestination(
      address: ServiceAddress(host: "127.0.0.1", port: try FreePort.find()),
      tls: try TLSContext.client(caFile: nil, alpn: ["h2"]), startsWithOneStream: false)
  }

  private static func certificate(_ number: Int) -> CertificateCredentialSource {
    let day: Int64 = 86_400_000
    return CertificateCredentialSource(
      .file("\(number).pem"),
      expiresAtMs: WallClock.system.nowMs() + Int64(1_000 - number) * day)
  }

  private static func entry(
    _ number: Int, _ provider: any PushProvider
  ) -> ProviderDirectory.Entry {
    ProviderDirectory.Entry(
      number: number, app: "app-\(number)", environments: [.production], provider: provider)
  }

  @Test(
    "200 networks are asked and 100 certificates told of, and how many others there are is said")
  func bounds() async throws {
    let lane = try TestLane()
    let client = HTTPClient()
    defer { client.shutdown() }
    let destination = try Self.closed()
    let examination = NetworksExamination(
      entries: (0..<203).map {
        Self.entry(
          $0,
          APNsProvider(topic: "t", destination: destination, credentials: Self.certificate($0)))
      },
      configuration: Configuration(apps: []), forms: [:], client: client, clock: .system,
      loop: lane.loop, answerMs: 10_000)
    let ends = examination.ends()
    #expect(ends.count == 101 && ends.filter { $0.severity == .good }.count == 100)
    // The soonest to expire come first.
    #expect(ends.first?.sentence.hasPrefix("the certificate 202.pem holds until") == true)
    #expect(ends.last?.sentence == "103 more certificates hold for no less than these")
    var last = 0
    let findings = await examination.findings { done, total in
      #expect(done == last + 1 && total == 200)
      last = done
    }
    #expect(findings.count == 201 && last == 200)
    #expect(findings.filter { $0.sentence.contains("for TCP failed") }.count == 200)
    #expect(
      findings.last?.sentence.hasPrefix("3 more were not asked: the doctor asks 200, and") == true)
  }

  // MARK: Redis

  @Test(
    "a token in Redis that is none, or that nobody can use, is told, and none is signed beside it",
    arguments: [
      ("junk", "what is kept in its place is none"),
      ("1790000000000 a.b.c", "the fleet's token cannot be used"),
    ])
  func token(text: String, words: String) async throws {
    try await DoctorStage.with { stage in
      let endpoint = stage.stage.redis.endpoint
      let file = stage.stage.keys.apnsKey
      let digest = try SigningKey(file: file.file, algorithm: .es256).digest
      let name = "pushpool:credential:apns:\(file.teamID):\(file.keyID):\(digest)"
      try await stage.lane.run { lane in
        _ = try await lane.connect(endpoint).call(RedisCommand("SET", name, text))
      }
      let diagnosis = try await stage.diagnosis()
      #expect(
        diagnosis.has(
          .note, Self.apns,
          "whether APNs takes the key was not asked: there is no provider token to ask with: \(words)"
        ), "\(diagnosis.about(Self.apns))")
      let kept = try await stage.lane.run { lane in
        try await lane.connect(endpoint).call(RedisCommand("GET", name)).string
      }
      #expect(kept == text)
    }
  }

  @Test("a Redis that answers no time to TIME is told, and the rest is looked at")
  func time() async throws {
    try await TestLane.withRedis { lane, server in
      let altering = try AlteringRedis(
        loop: lane.loop, server: server.endpoint, seed: 1, perMille: 0)
      altering.replies = ["TIME": ["soon", "0"]]
      defer { altering.close() }
      let redis = try await lane.connect(
        RedisEndpoint(endpoint: .tcp(host: "127.0.0.1", port: altering.port)))
      defer { redis.close() }
      let examination = try await RedisExamination.of(
        ShardStore(connection: redis, prefix: "pushpool"), at: RedisConfiguration(),
        for: Configuration(apps: []), app: nil)
      let told = examination.findings.first { $0.sentence == "does not tell its time" }
      #expect(told?.severity == .note && examination.aheadMs == 0)
      #expect(examination.findings.contains { $0.sentence.hasPrefix("is version") })
    }
  }

  @Test("what says how to reach Redis and is gone a moment later is an error, and no lack of Redis")
  func gone() async throws {
    try await DoctorStage.with { stage in
      let folder = stage.stage.folder
      let (file, password) = (folder.file("gone.yaml"), folder.file("redis.pass"))
      try PrivateFile.write("opens Redis", to: password)
      try PrivateFile.write(
        "redis: {url: '\(stage.stage.redis.url)', password_file: redis.pass}", to: file)
      let check = ConfigurationCheck(file: file, environment: [:], for: .worker)
      #expect(check.isRight, "\(check.errors)")
      #expect(unlink(password) == 0)
      let diagnosis = await Doctor(
        check, isOffline: true, for: StoreSession.Client(name: "test", version: "0"),
        on: stage.lane.loop
      ).examine { _, _ in }
      #expect(
        diagnosis.has(.error, "redis", "redis.password_file: cannot be read"),
        "\(diagnosis.findings)")
      #expect(!diagnosis.lacksRedis)
    }
  }
}
