import LocalServices
import Model
import Operations
import PushpoolConfiguration
import Redis
import Store
import Testing

@testable import Server

/// What backends see of a job before they add it.
@Suite struct PreviewRouteTests {
  private static let path = "/v1/apps/shop/jobs:preview"
  private static let token = String(repeating: "00ff", count: 16)
  private static let job =
    #""job": {"audience": {"users": ["u1"]}, "notification": {"title": "Sale"}}"#

  private let folder: TemporaryFolder
  private let configuration: Configuration

  init() throws {
    folder = try TemporaryFolder()
    let endpoint = "https://push.example:8443"
    let text = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379",
      apps: [
        ConfigurationText.App(id: "first", apns: [.production: endpoint]),
        ConfigurationText.App(
          apns: [.production: endpoint], others: ConfigurationText.App.others(at: endpoint)),
      ])
    configuration = try Configuration.parse(
      text.text(try NetworkKeys(folder: folder.path, port: 443)), file: "pushpool.yaml",
      environment: [:])
  }

  @Test("without devices each network of the app is rendered for")
  func networks() async throws {
    try await RouteStage.with(configuration) { stage in
      let answer = try await stage.ask(.post, Self.path, "{\(Self.job)}")
      #expect(answer.status == 200 && answer["refused"] == .null)
      #expect(answer.strings("devices", "network") == ["apns", "fcm", "jpush"])
      let requests = (answer["devices"]?.arrayValue ?? []).map { $0.objectValue?["request"] }
      #expect(requests.allSatisfy { $0 != nil })
      #expect(answer["app"] == .string("shop") && answer["absent"] == .integer(0))
    }
  }

  @Test("a user's installations and given tokens are rendered for")
  func installations() async throws {
    try await RouteStage.with(configuration) { stage in
      try await stage.run { store throws(RedisError) in
        for (user, token) in [("u1", Self.token), ("u2", "aabbccdd")] {
          let installation = Installation(
            app: "shop", user: user, token: DeviceToken(stored: token, network: .apns))
          _ = try await store.installations.install(installation)
        }
      }
      let user = try await stage.ask(.post, Self.path, #"{"user": "u1", \#(Self.job)}"#)
      #expect(user.strings("devices", "token") == ["00ff00ff…"])
      let tokens = try await stage.ask(
        .post, Self.path, #"{"tokens": ["\#(Self.token)", "aabbccdd", "eeffeeff"], \#(Self.job)}"#)
      #expect(tokens["devices"]?.arrayValue?.count == 2 && tokens["absent"] == .integer(1))
      let nobody = try await stage.ask(.post, Self.path, #"{"user": "u9", \#(Self.job)}"#)
      #expect(nobody.status == 200 && nobody["devices"] == .array([]))
      let device = try await stage.ask(
        .post, Self.path,
        #"{"devices": [{"network": "apns", "environment": "development"}], \#(Self.job)}"#)
      #expect(device.strings("devices", "cause") == ["no_credentials"])
    }
  }

  @Test(
    "a body that breaks a rule is refused",
    arguments: [
      ("{}", "/job"), (#"{"job": 1}"#, "/job"), (#"{"user": "u1", "x": 1, \#(job)}"#, "/x"),
      (#"{"job": {"audience": {"users": ["a"]}, "extra": 1}}"#, "/job/extra"),
      (
        #"{"job": {"app": "first", "audience": {"all": true}, "notification": {"title": "T"}}}"#,
        "/job/app"
      ),
      (#"{"user": "", \#(job)}"#, "/user"), (#"{"tokens": [], \#(job)}"#, "/tokens"),
      (#"{"tokens": [1], \#(job)}"#, "/tokens/0"),
      (#"{"tokens": ["a\u0000b"], \#(job)}"#, "/tokens/0"),
      (#"{"devices": [{"network": "x"}], \#(job)}"#, "/devices/0/network"),
      (#"{"devices": [{"network": "fcm", "y": 1}], \#(job)}"#, "/devices/0/y"),
      (#"{"user": "u1", "tokens": ["aabbccdd"], \#(job)}"#, "/tokens"),
    ])
  func refuses(body: String, pointer: String) async throws {
    try await RouteStage.with(configuration) { stage in
      let answer = try await stage.ask(.post, Self.path, body)
      #expect(answer.status == 422 && answer.pointers == [pointer])
    }
  }

  /// Puts an app into Redis that is sealed with some keys.
  private static func put(_ keys: SealingKeys, _ stage: RouteStage) async throws {
    let document = try AppDocument(
      ["jpush": ["app_key": .string("abc"), "master_secret": .string("master-hidden")]],
      id: "tenant")
    let value = try AppRecord(
      document, id: "tenant", instead: nil, keys: keys, nowMs: 1, by: "test"
    ).value()
    _ = try await stage.services.session.atHome { fleet throws(RedisError) in
      try await fleet.apps.put("tenant", value: value, .put)
    }
  }

  @Test(
    "an app that stands in Redis is rendered for as one of the file, and its secrets stay there")
  func redisApps() async throws {
    let key = SealingKey.random()
    try PrivateFile.write(key.fileText, to: folder.file("apps.key"))
    var configuration = configuration
    configuration.appsInRedis = AppsInRedisConfiguration(keyFiles: [folder.file("apps.key")])
    let path = "/v1/apps/tenant/jobs:preview"
    try await RouteStage.with(configuration) { stage in
      #expect(try await stage.ask(.post, path, "{\(Self.job)}").status == 404)
      try await Self.put(SealingKeys(key), stage)
      let answer = try await stage.ask(.post, path, "{\(Self.job)}")
      #expect(answer.status == 200 && answer["app"] == .string("tenant"))
      #expect(answer.strings("devices", "network") == ["jpush"])
      #expect(!answer.json.text().contains("hidden"))
      try await Self.put(SealingKeys(.random()), stage)
      #expect(try await stage.ask(.post, path, "{\(Self.job)}").status == 500)
    }
  }

  @Test("an app without settings here cannot be rendered for, nor one with a key that is gone")
  func unusable() async throws {
    try await RouteStage.with(configuration) { stage in
      let answer = try await stage.ask(.post, "/v1/apps/other/jobs:preview", "{\(Self.job)}")
      #expect(answer.status == 404)
    }
    var broken = configuration
    broken.apps[1].jpush?.masterSecretFile = "/nowhere"
    try await RouteStage.with(broken) { stage in
      let answer = try await stage.ask(.post, Self.path, "{\(Self.job)}")
      #expect(answer.status == 500)
      #expect(answer["detail"]?.stringValue?.contains("/nowhere") == false)
    }
  }
}
