import LocalServices
import Model
import PushpoolConfiguration
import Testing

@testable import Chaos

@Suite("rewriting of a configuration")
struct RewritingTests {
  /// A configuration with the first app, one that never changes, the one that comes, and one on FCM.
  private static func with(_ body: (SharedConfiguration) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 2_197)
    var text = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379",
      apps: [ChaosStage.app, "other", ConfigurationContent.comingApp].map {
        .init(id: $0, apns: [.production: "https://localhost:2197"])
      })
    text.apps.append(
      .init(
        id: ConfigurationContent.accountApp, apns: [:],
        others: [.fcm: "https://localhost:2197"]))
    let shared = SharedConfiguration(
      file: folder.file("pushpool.yaml"), text: text, keys: keys)
    try SharedConfiguration.replace(
      ConfigurationContent.keyFile(shared),
      by: try #require(TextFile.read(keys.apnsKey.file, bytesMax: 10_000)))
    let second = try SharedConfiguration.makeSecondAccount(folder.path, port: 2_197)
    #expect(second == shared.secondAccountFile)
    try SharedConfiguration.replace(
      ConfigurationContent.accountFile(shared),
      by: try #require(TextFile.read(second, bytesMax: 10_000)))
    try body(shared)
  }

  private static func parse(
    _ text: String, _ shared: SharedConfiguration
  ) throws -> Configuration {
    try Configuration.parse(text, file: shared.file, environment: [:])
  }

  @Test("good contents are taken, and say what they are to say")
  func goodContents() throws {
    try Self.with { shared in
      for rate in ConfigurationContent.rates {
        for hasComingApp in [false, true] {
          let content = ConfigurationContent(hasComingApp: hasComingApp, rate: rate)
          let configuration = try Self.parse(content.text(shared), shared)
          #expect(configuration.validateFilesExist(for: .worker).isEmpty)
          #expect(
            configuration.apps.map(\.id)
              == ["shop", "other"] + (hasComingApp ? ["news"] : []) + ["post"])
          let shop = try #require(configuration.apps.first)
          #expect((shop.pushesPerSecond == 20_000) == (rate?.hasPrefix("pushes") ?? false))
          #expect((shop.eventsPerMinute == 1_200) == (rate?.hasPrefix("events") ?? false))
        }
      }
    }
  }

  @Test("each broken file is wrong, in a way of its own")
  func brokenFiles() throws {
    try Self.with { shared in
      let content = ConfigurationContent(hasComingApp: true)
      var fields: Set<String> = []
      for kind in Rewriting.allCases where kind.isBroken {
        let text = kind.text(content, shared)
        #expect(text != content.text(shared))
        do throws(ConfigurationError) {
          let configuration = try Configuration.parse(text, file: shared.file, environment: [:])
          let problem = configuration.validateFilesExist(for: .worker).first
          if let problem { throw problem }
          Issue.record("\(kind.rawValue) is taken")
        } catch { fields.insert(error.field) }
      }
      #expect(fields.count == 3)
    }
  }

  @Test(
    "each kind changes a good content or breaks its file, but the mending, and what is in Redis")
  func changes() {
    var dice = SeededDice(seed: 1)
    for kind in Rewriting.allCases {
      let former = ConfigurationContent(hasComingApp: true, rate: ConfigurationContent.rates[1])
      let next = kind.content(after: former, &dice)
      let isChange = !kind.isBroken && kind != .mending && kind != .tenant
      #expect((next != former) == isChange)
      let renewals = next.renewals(after: former)
      #expect(renewals == (kind == .key || kind == .account || kind == .rate ? 1 : 0))
    }
  }

  @Test("the accept log says by which connections the jobs of an app came")
  func connections() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("accepted.log")
    let entries = ["shop", "other", "shop"].enumerated().map {
      LedgerEntry(number: $0.offset, id: "job-\($0.offset)", app: $0.element, users: 0..<10)
    }
    let crowd = Crowd(app: "shop", count: 10)
    let lines = [(0, 7), (1, 8), (2, 12), (2, 7), (1, 9), (3, 10)].map { job, connection in
      "1000 apns \(crowd.tokenText(1)) \(LedgerEntry.topicStart)\(job) \(connection) 3 00ff\n"
    }
    try PrivateFile.write(lines.joined(), to: file)
    #expect(try AcceptLogFile.connections(of: "shop", entries, file) == [7, 12])
    #expect(try AcceptLogFile.connections(of: "other", entries, file) == [8, 9])
  }
}
