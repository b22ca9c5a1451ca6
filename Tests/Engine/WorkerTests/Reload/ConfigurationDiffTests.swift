import LocalServices
import Logging
import Providers
import PushpoolConfiguration
import Testing

@testable import Worker

@Suite struct ConfigurationDiffTests {
  let folder: ReloadFolder

  init() throws { folder = try ReloadFolder() }

  @Test("apps are told apart by what they are sent with, and by their rules")
  func tellsApart() throws {
    try folder.write(["shop", "news", "gone", "same"])
    let before = try folder.loaded()
    try folder.replaceKey(of: "shop")
    try folder.write(
      ["same", "news", "shop", "new"], "jobs: {retention_hours: 5}",
      fields: ["news": "events_per_minute: 9"])
    let next = try folder.loaded(after: before)
    let diff = ConfigurationDiff(from: before, to: next)
    #expect(diff.added == ["new"] && diff.removed == ["gone"] && diff.mended.isEmpty)
    #expect(
      diff.changed == [
        .init(id: "news", parts: ["events_per_minute"]),
        .init(id: "shop", parts: ["apns.production"]),
      ])
    #expect(diff.settings == ["jobs"])
    #expect(
      diff.sentence
        == "the configuration was loaded anew: 1 app added, 1 app removed, 2 apps changed, settings changed"
    )
    #expect(next.digest != before.digest)
    #expect(ConfigurationDiff(from: next, to: next).isEmpty)
  }

  @Test("a rate is told with the networks whose connections begin anew for it")
  func tellsRates() throws {
    try folder.write(["shop"])
    let before = try folder.loaded()
    try folder.write(["shop"], fields: ["shop": "pushes_per_second: 50"])
    let limited = try folder.loaded(after: before)
    let diff = ConfigurationDiff(from: before, to: limited)
    #expect(
      diff.changed == [.init(id: "shop", parts: ["apns.production", "pushes_per_second"])])
    // Another one is told alone.
    try folder.write(["shop"], fields: ["shop": "pushes_per_second: 60"])
    let next = try folder.loaded(after: limited)
    let other = ConfigurationDiff(from: limited, to: next)
    #expect(other.changed == [.init(id: "shop", parts: ["pushes_per_second"])])
    #expect(next.digest != limited.digest)
    #expect(
      next.apps.directory.numbers(app: "shop") == limited.apps.directory.numbers(app: "shop"))
  }

  @Test("the log's line names some of many, and says how many others there are")
  func isBounded() throws {
    try folder.write(["shop"])
    let before = try folder.loaded()
    let more = (0..<50).map { "app\($0)" }
    try folder.write(["shop"] + more)
    let diff = ConfigurationDiff(from: before, to: try folder.loaded(after: before))
    #expect(diff.sentence.hasSuffix("50 apps added"))
    #expect(
      "\(diff.metadata["added"] ?? "")"
        == more.prefix(20).joined(separator: ", ") + " and 30 more")
    #expect(diff.metadata.count == 1)
  }

  @Test(
    "the digest is that of another process, whatever its files are called and however many lanes it has"
  )
  func digestIsOfContent() throws {
    try folder.write(["shop", "news"])
    let one = try folder.loaded()
    let other = try ReloadFolder()
    for app in ["shop", "news"] {
      try PrivateFile.write(
        TextFile.read(folder.keyFile(of: app), bytesMax: 4_096) ?? "", to: other.keyFile(of: app))
    }
    try other.write(["news", "shop"], "worker: {lanes: 7}\nlog: {level: debug}")
    #expect(try other.loaded().digest == one.digest)
    // By a rate it is another one.
    try other.write(["news", "shop"], fields: ["news": "events_per_minute: 1"])
    #expect(try other.loaded().digest != one.digest)
  }

  @Test("settings that wait for a restart are named by what they hold, not where they stand")
  func fixedSettings() throws {
    let password = folder.folder.file("redis.password")
    try PrivateFile.write("one\n", to: password)
    try folder.write(["shop"], "redis: {password_file: redis.password}")
    let before = FixedSettings(try folder.load())
    try PrivateFile.write("two\n", to: password)
    let next = FixedSettings(try folder.load())
    #expect(before.names(differingIn: next) == ["redis.password_file"])
    try PrivateFile.write("one\n", to: folder.folder.file("renamed"))
    try folder.write(["shop"], "redis: {password_file: renamed, prefix: other}")
    #expect(before.names(differingIn: FixedSettings(try folder.load())) == ["redis.prefix"])
    var text = ""
    dump(before, to: &text)
    #expect(!text.contains("one"))
  }
}
