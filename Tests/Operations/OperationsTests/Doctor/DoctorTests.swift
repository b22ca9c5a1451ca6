import LocalServices
import Model
import Operations
import Providers
import PushpoolConfiguration
import Redis
import Simulator
import Stage
import Testing
import TestSupport

/// The doctor with a real Redis and the simulated networks.
@Suite struct DoctorTests {
  private static let networks = ["shop apns production", "shop fcm", "shop jpush"]

  @Test("where all is well every network takes its credential, and nothing needs a person")
  func well() async throws {
    var options = RedisServer.Options()
    options.memoryBytesMax = 1 << 30
    try await DoctorStage.with(options) { stage in
      let diagnosis = try await stage.diagnosis()
      #expect(diagnosis.isWell && diagnosis.first == nil, "\(diagnosis.needs)")
      for network in Self.networks {
        #expect(diagnosis.has(.good, network, "takes the credential"), "\(network)")
        #expect(diagnosis.about(network).count == 1)
      }
      #expect(diagnosis.has(.note, "apns", "signing keys do not expire"))
      #expect(diagnosis.about("apns").count == 1)
      #expect(diagnosis.has(.good, "configuration", "files were looked into"))
      #expect(diagnosis.has(.good, "redis", "is version"))
      #expect(diagnosis.has(.good, "redis", "has the time of this machine"))
      #expect(diagnosis.has(.good, "redis", "keeps what it confirms"))
      #expect(diagnosis.has(.good, "redis", "of its maxmemory"))
      #expect(diagnosis.has(.note, "redis", "has no functions of this version yet"))
      #expect(diagnosis.has(.good, "redis", "this user may do what pushpool-worker may"))
      #expect(diagnosis.json.objectValue?["ok"]?.boolValue == true)
    }
  }

  @Test("the provider token is the fleet's, and the doctor leaves nothing else in Redis")
  func sharedToken() async throws {
    try await DoctorStage.with { stage in
      _ = try await stage.diagnosis()
      let endpoint = stage.stage.redis.endpoint
      let key = stage.stage.keys.apnsKey
      let name = "pushpool:credential:apns:\(key.teamID):\(key.keyID)"
      let keys = try await stage.lane.run { lane in
        try await lane.connect(endpoint).call(RedisCommand("KEYS", "*")).array?
          .compactMap(\.string)
      }
      let only = try #require(keys?.first)
      #expect(keys?.count == 1 && only.hasPrefix(name), "\(keys ?? [])")
      func token() async throws -> String? {
        try await stage.lane.run { lane in
          try await lane.connect(endpoint).call(RedisCommand("GET", only)).string
        }
      }
      let first = try await token()
      #expect(first != nil)
      _ = try await stage.diagnosis()
      let second = try await token()
      #expect(first == second)
    }
  }

  @Test(
    "the token of a fleet is shown, also where older workers have it, and none is signed beside it")
  func fleetsToken() async throws {
    try await DoctorStage.with { stage in
      let endpoint = stage.stage.redis.endpoint
      let file = stage.stage.keys.apnsKey
      let key = try SigningKey(file: file.file, algorithm: .es256)
      let source = APNsTokenSource(key: key, keyID: file.keyID, teamID: file.teamID)
      let credential = try await source.current()
      let token = SharedToken(
        token: String(try #require(credential.header).dropFirst("bearer ".count)),
        issuedAtMs: credential.expiresAtMs - CredentialLimits.apnsTokenLifeMs)
      let former = "pushpool:credential:apns:\(file.teamID):\(file.keyID)"
      // The simulator refuses a second token of a key for 20 minutes, as Apple does.
      for name in [former, "\(former):\(key.digest)"] {
        try await stage.lane.run { lane in
          let redis = try await lane.connect(endpoint)
          _ = try await redis.call(RedisCommand("FLUSHALL"))
          _ = try await redis.call(RedisCommand("SET", name, token.text))
        }
        let diagnosis = try await stage.diagnosis()
        #expect(diagnosis.has(.good, "shop apns production", "takes the credential"), "\(name)")
        let keys = try await stage.lane.run { lane in
          try await lane.connect(endpoint).call(RedisCommand("KEYS", "*")).array?
            .compactMap(\.string)
        }
        #expect(keys == [name])
      }
    }
  }

  @Test("a credential that a network refuses is an error with a remedy")
  func refused() async throws {
    var script = SimulatorScript()
    script.rules = [
      ScriptRule(network: .apns, status: 403, reason: "InvalidProviderToken"),
      ScriptRule(network: .fcm, status: 401),
      ScriptRule(network: .jpush, status: 401, reason: "1004"),
    ]
    try await DoctorStage.with(script: script) { stage in
      let diagnosis = try await stage.diagnosis()
      #expect(diagnosis.needs.map(\.subject) == Self.networks)
      for network in Self.networks {
        #expect(diagnosis.has(.error, network, "refuses the credential: "), "\(network)")
        #expect(diagnosis.about(network).first?.remedy != nil)
      }
      #expect(diagnosis.first?.remedy?.contains("check key_id, team_id and the key") == true)
    }
  }

  @Test("a setup that is refused, trouble, and an answer of something else are told apart")
  func otherAnswers() async throws {
    var foreign = ScriptRule(network: .jpush, status: 403)
    foreign.body = "<html>no entry</html>"
    var script = SimulatorScript()
    script.rules = [
      ScriptRule(network: .apns, status: 400, reason: "TopicDisallowed"),
      ScriptRule(network: .fcm, status: 503, reason: "UNAVAILABLE"), foreign,
    ]
    try await DoctorStage.with(script: script) { stage in
      let diagnosis = try await stage.diagnosis()
      #expect(
        diagnosis.has(.error, "shop apns production", "refuses the app as it is set up"))
      #expect(diagnosis.has(.warning, "shop fcm", "is in trouble, or has had enough: UNAVAILABLE"))
      #expect(diagnosis.has(.error, "shop jpush", "that is not JPush's"), "\(diagnosis.findings)")
    }
  }

  @Test("a dead token in the answer is no fault; a bearer token that cannot be had is one")
  func tokens() async throws {
    var script = SimulatorScript()
    script.rules = [
      ScriptRule(network: .apns, status: 400, reason: "BadDeviceToken"),
      ScriptRule(network: .jpush, status: 400, reason: "1011"),
    ]
    script.oauth = ScriptRule(status: 503)
    try await DoctorStage.with(script: script) { stage in
      let diagnosis = try await stage.diagnosis()
      #expect(
        diagnosis.has(.good, "shop apns production", "answered BadDeviceToken to a token"))
      #expect(diagnosis.has(.good, "shop jpush", "takes the credential"))
      #expect(diagnosis.has(.error, "shop fcm", "refused a token for"))
      #expect(diagnosis.has(.good, "shop fcm", "FCM can be reached"))
    }
  }

  @Test("what fails on the way is named: TCP, and TLS")
  func unreachable() async throws {
    try await DoctorStage.with { stage in
      var text = stage.text
      let closed = "https://localhost:\(try FreePort.find())"
      text.apps[0] = .init(
        apns: [.production: closed], others: ConfigurationText.App.others(at: closed))
      let tcp = try await stage.diagnosis(of: text.text(stage.stage.keys))
      for network in Self.networks {
        #expect(tcp.has(.error, network, "for TCP failed"), "\(tcp.about(network))")
      }
      let folder = try TemporaryFolder()
      let others = try NetworkKeys(folder: folder.path, port: stage.stage.port)
      let tls = try await stage.diagnosis(of: stage.text.text(others))
      for network in ["shop apns production", "shop jpush"] {
        #expect(tls.has(.error, network, "for TLS failed"), "\(tls.about(network))")
        #expect(tls.about(network).first?.remedy?.contains("ca_file") == true)
      }
    }
  }

  @Test("a proxy is what is asked, and told of")
  func proxy() async throws {
    try await DoctorStage.with { stage in
      var text = stage.text
      text.apps[0].others[.fcm] = nil
      text.access = ["proxy: \"http://127.0.0.1:\(try FreePort.find())\""]
      let diagnosis = try await stage.diagnosis(of: text.text(stage.stage.keys))
      #expect(diagnosis.has(.error, "shop apns production", "proxy"), "\(diagnosis.findings)")
      #expect(diagnosis.has(.error, "shop jpush", "the proxy failed"))
      for subject in ["shop apns production", "shop jpush"] {
        let remedy = diagnosis.about(subject).compactMap(\.remedy).joined()
        #expect(remedy.contains("proxy") && !remedy.contains("or name a proxy"), "\(remedy)")
      }
    }
  }

  @Test("a proxy that wants a login is told of for each network, with what to do")
  func refusingProxy() async throws {
    try await DoctorStage.with { stage in
      let proxy = try EgressProxy(.http, login: "push:s3cret")
      var text = stage.text
      text.access = ["proxy: \"\(proxy.url)\""]
      let diagnosis = try await stage.diagnosis(of: text.text(stage.stage.keys))
      #expect(
        diagnosis.has(.error, "shop apns production", "wants a login"), "\(diagnosis.findings)")
      for subject in Self.networks { #expect(diagnosis.has(.error, subject, "407"), "\(subject)") }
      for subject in ["shop apns production", "shop jpush"] {
        #expect(diagnosis.has(.error, subject, "for the proxy failed"), "\(subject)")
        #expect(diagnosis.about(subject).contains { $0.remedy?.contains("login") == true })
      }
      #expect(diagnosis.has(.error, "shop fcm", "the proxy 127.0.0.1:"))
      await proxy.close()
    }
  }

  @Test("a proxy that wants a login is said to, of every network and of the token server")
  func proxyLogin() async throws {
    let server = LocalServer { _ in
      LocalServer.response(status: "407 Proxy Authentication Required", body: "")
    }
    defer { server.close() }
    try await DoctorStage.with { stage in
      var text = stage.text
      text.access = ["proxy: \"http://127.0.0.1:\(server.port)\""]
      let diagnosis = try await stage.diagnosis(of: text.text(stage.stage.keys))
      for network in Self.networks {
        #expect(
          diagnosis.has(
            .error, network,
            "the proxy 127.0.0.1:\(server.port) wants a login: give proxy_user and "
              + "proxy_password_file (407)"), "\(diagnosis.about(network))")
      }
      for network in ["shop apns production", "shop jpush"] {
        #expect(diagnosis.has(.error, network, "for the proxy failed"))
        #expect(diagnosis.about(network).first?.remedy?.contains("check the proxy") == true)
      }
    }
  }

  @Test(
    "a 200 that workers take for FCM's accept is one here, too",
    arguments: [
      #"{"name":"projects/p/messages/1","more":"#,
      #"{"name":"projects/p/messages/1","more":""# + String(repeating: "x", count: 20_000) + #""}"#,
    ])
  func oddAccept(body: String) async throws {
    var rule = ScriptRule(network: .fcm, status: 200)
    rule.body = body
    var script = SimulatorScript()
    script.rules = [rule]
    try await DoctorStage.with(script: script) { stage in
      let diagnosis = try await stage.diagnosis()
      #expect(
        diagnosis.has(.good, "shop fcm", "FCM takes the credential: it accepted the request"),
        "\(diagnosis.about("shop fcm"))")
    }
  }

  @Test(
    "without Redis the networks are looked at, and no provider token is brought beside the fleet's")
  func noRedis() async throws {
    try await DoctorStage.with { stage in
      var text = stage.text
      text.redisURL = "unix://\(stage.stage.folder.file("none"))"
      let diagnosis = try await stage.diagnosis(of: text.text(stage.stage.keys))
      #expect(diagnosis.lacksRedis && diagnosis.first?.subject == "redis")
      #expect(diagnosis.first?.remedy?.contains("start it") == true)
      #expect(diagnosis.json.objectValue?["redis_asked"]?.boolValue == false)
      let apns = "shop apns production"
      #expect(diagnosis.has(.note, apns, "was not asked: there is no provider token"))
      #expect(diagnosis.has(.good, apns, "APNs can be reached"))
      #expect(diagnosis.has(.good, "shop fcm", "takes the credential"))
    }
  }

  @Test("offline no network is asked")
  func offline() async throws {
    try await DoctorStage.with { stage in
      let diagnosis = try await stage.diagnosis(
        of: stage.text.text(stage.stage.keys), isOffline: true)
      #expect(diagnosis.isWell && diagnosis.has(.note, "networks", "--offline"))
      #expect(Self.networks.allSatisfy { diagnosis.about($0).isEmpty })
    }
  }

  @Test("an app with an error is not asked about, and its neighbour is")
  func wrongApp() async throws {
    try await DoctorStage.with { stage in
      var text = stage.text
      text.apps.append(.init(id: "news", apns: [.production: stage.stage.endpoint]))
      let yaml = text.text(stage.stage.keys).replacing(
        "  - id: news", with: "  - id: news\n    pushes_per_second: none")
      let diagnosis = try await stage.diagnosis(of: yaml)
      #expect(diagnosis.has(.error, "configuration", "apps[1].pushes_per_second"))
      #expect(diagnosis.has(.good, "shop apns production", "takes the credential"))
      #expect(diagnosis.about("news apns production").isEmpty)
      let redis = try await stage.diagnosis(of: "redis: {url: http://x}\n" + "log: {level: info}")
      #expect(redis.has(.note, "redis", "was not asked, because of errors"))
      #expect(redis.has(.note, "configuration", "there are no apps"))
    }
  }

  @Test(
    "the end of each certificate is told: a warning from 30 days before on, an error afterwards")
  func certificates() async throws {
    try await DoctorStage.with { stage in
      let authority = try CertificateAuthority(folder: stage.stage.folder.path)
      for (name, days) in [("soon", 10), ("past", -1), ("late", 90)] {
        _ = try authority.issueClient(commonName: "shop", fileName: name, validDays: days)
      }
      let apps = ["soon", "past", "late"].map {
        "  - {id: \($0), apns: {production: {certificate_file: \($0)-with-key.pem, topic: t}}}\n"
      }
      let diagnosis = try await stage.diagnosis(
        of: "redis: {url: '\(stage.stage.redis.url)', accepted_risks: no_append_only_file}\n"
          + "apps:\n\(apps.joined())", isOffline: true)
      #expect(diagnosis.has(.warning, "soon apns production", "expires on"))
      #expect(diagnosis.has(.error, "past apns production", "expired on"))
      #expect(diagnosis.first?.remedy?.contains("get a new one") == true)
      #expect(
        diagnosis.has(.good, "late apns production", "late-with-key.pem holds until 20"),
        "\(diagnosis.about("late apns production"))")
      for app in ["soon", "past", "late"] {
        #expect(diagnosis.about("\(app) apns production").count == 1, "\(app)")
      }
      #expect(diagnosis.about("apns").isEmpty)
    }
  }

  @Test("many errors of a configuration are counted, and no network is asked")
  func manyErrors() async throws {
    try await DoctorStage.with { stage in
      let apps = (0..<130).map { "  - id: a\($0)\n" }.joined()
      let diagnosis = try await stage.diagnosis(of: "apps:\n\(apps)")
      let rest = try #require(
        diagnosis.about("configuration").first { $0.sentence.hasSuffix("has 30 more errors") })
      #expect(
        rest.severity == .error && rest.remedy?.hasPrefix("see them with pushpool check") == true)
      #expect(diagnosis.has(.note, "redis", "was not asked"))
    }
  }
}
