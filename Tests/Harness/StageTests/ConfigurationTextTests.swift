import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Testing

@Suite("Text of configurations")
struct ConfigurationTextTests {
  private func parse(_ text: ConfigurationText, _ keys: NetworkKeys) throws -> Configuration {
    try Configuration.parse(text.text(keys), file: "/pushpool.yaml", environment: [:])
  }

  @Test("a worker reads what it says: Redis, apps, networks and where they are")
  func read() throws {
    let folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 2_197)
    let endpoint = "https://localhost:2197"
    var text = ConfigurationText(
      redisURL: "redis://127.0.0.1:7000/3",
      apps: [
        .init(
          apns: [.production: endpoint], others: ConfigurationText.App.others(at: endpoint),
          messagesPerMinute: 1_234),
        .init(id: "news", apns: [.development: endpoint]),
      ])
    text.worker = ["lanes: 3", "lease_seconds: 7"]
    text.access = ["proxy: \"http://127.0.0.1:3128\""]
    let configuration = try parse(text, keys)
    #expect("\(configuration.redis.url)" == "redis://127.0.0.1:7000/3")
    #expect(configuration.worker.lanes == 3)
    #expect(configuration.worker.leaseSeconds == 7)
    #expect(configuration.apps.map(\.id) == ["shop", "news"])
    let shop = try #require(configuration.apps.first)
    #expect(shop.fcm?.messagesPerMinute == 1_234)
    #expect(shop.jpush?.appKey == keys.jpushApp.appKey)
    #expect(shop.jpush?.access.endpoint?.port == 2_197)
    #expect(shop.fcm?.access.proxy?.port == 3_128)
    let news = try #require(configuration.apps.last)
    #expect(news.fcm == nil)
    #expect(news.jpush == nil)
  }

  @Test("an app has its own signing key and further members")
  func ownKey() throws {
    let folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 2_197)
    let own = try APNsSigningKey(folder: folder.path, keyID: "OWN0000KEY")
    var text = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379",
      apps: ["shop", "news"].map { .init(id: $0, apns: [.production: "https://localhost:2197"]) })
    text.apps[0].apnsKeyFile = own.file
    text.apps[0].members = ["pushes_per_second: 100", "events_per_minute: 7"]
    let configuration = try parse(text, keys)
    #expect(configuration.apps.map(\.pushesPerSecond) == [100, nil])
    #expect(configuration.apps.first?.eventsPerMinute == 7)
    let files = configuration.files(for: .worker).map(\.path)
    #expect(files.count { $0.hasSuffix("/AuthKey_OWN0000KEY.p8") } == 1)
    #expect(files.count { $0.hasSuffix("/AuthKey_\(keys.apnsKey.keyID).p8") } == 1)
  }

  @Test("paths lead to the keys from anywhere, whatever the folder is called")
  func paths() throws {
    let folder = try TemporaryFolder()
    let odd = folder.file("it's: {odd}")
    #expect(mkdir(odd, 0o700) == 0)
    let keys = try NetworkKeys(folder: odd + "/../it's: {odd}", port: 2_197)
    let text = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379",
      apps: [.init(apns: [.production: "https://localhost:2197"])])
    #expect(text.text(keys).contains("'\(odd.replacing("'", with: "''"))/ca.pem'"))
    _ = try parse(text, keys)
  }
}
