import LocalServices
import Model
import TestSupport
import Testing

/// Each job of the recipes, sent as it stands in the guide.
@Suite struct RecipeTests {
  private static let recipes = DocumentSnippet.all("json", in: "docs/guides/recipes.md")

  /// The FCM tokens that the page has its readers install, by user.
  private static let installed: [String: String] = {
    let lines = DocumentSnippet.indented(in: "docs/guides/recipes.md")
    guard let line = lines.first(where: { $0.hasPrefix("for user in ") }),
      let end = line.firstIndex(of: ";"), let token = line.firstRange(of: "--token \"")
    else { preconditionFailure("the recipes install no devices") }
    let form = line[token.upperBound...].prefix { $0 != "\"" }
    let users = line[..<end].split(separator: " ").dropFirst(3).map(String.init)
    return Dictionary(
      uniqueKeysWithValues: users.map { ($0, form.replacing("$user", with: $0)) }
    ).mapValues { String($0) }
  }()

  /// Everybody whom a recipe names.
  private static func receivers() throws -> [Installation] {
    func apns(_ user: String, _ number: Int) throws -> Installation {
      try Devices.apns(number, user: user)
    }
    func fcm(_ user: String, token: String) throws -> Installation {
      Installation(app: "shop", user: user, token: try DeviceToken(token, network: .fcm))
    }
    var activity = try apns("activity:order-4714", 3)
    activity.kind = .liveActivity
    var calls = try apns("u1", 5)
    calls.kind = .voip
    return [
      try apns("u1", 1), try apns("u2", 2), activity, calls, try Devices.jpush(4, user: "u3"),
    ] + (try installed.map { try fcm($0.key, token: $0.value) })
  }

  @Test("every job of the recipes is taken in and sent, and no network refuses it")
  func sends() async throws {
    #expect(Self.recipes.count >= 10)
    try await PushStage.with(endpoints: .init(hasJPush: true)) { stage in
      let client = stage.client
      try await client.install(Self.receivers())
      _ = try await client.command("SADD", "segment:vip", "u1", "u2")
      try await client.subscribe(["u1", "u2"], to: "news")
      try await stage.withWorkers { _ in
        for recipe in Self.recipes {
          let job = try Job(bytes: Array(recipe.text.utf8))
          let id = try #require(job.id, "\(recipe) has no id")
          _ = try await client.enqueue(recipe.text)
          let record = try await client.finished(id)
          #expect(record.state == .done, "\(recipe): \(record.state)")
          #expect(record.counts.accepted >= 1, "\(recipe): \(record.counts)")
          #expect(record.counts.rejected == 0, "\(recipe): \(record.counts)")
          #expect(record.counts.failed == 0, "\(recipe): \(record.counts)")
        }
      }
    }
  }

  @Test("a job that waits is shown, cancelled and followed by another one as the page has it")
  func changes() async throws {
    let id = "autumn-sale"
    let recipe = try #require(Self.recipes.first { $0.text.contains("\"\(id)-2\"") }).text
    let commands = DocumentSnippet.indented(in: "docs/guides/recipes.md").filter {
      $0.contains(id) && $0.hasPrefix("pushpool ")
    }
    #expect(commands.count == 4)
    try await PushStage.with { stage in
      let client = stage.client
      try await client.install(Self.receivers())
      let startMs = try await client.serverMs() + 3_600_000
      let first = recipe.replacing("\(id)-2", with: id)
        .replacing("\"ttl_seconds\"", with: "\"deliver_at\": \(startMs), \"ttl_seconds\"")
      let file = stage.folder.file("\(id)-2.json")
      try PrivateFile.write(recipe, to: file)
      try await stage.withWorkers { _ in
        _ = try await client.enqueue(first)
        _ = try await eventually("it waits for its start") {
          try await client.record(id)?.state == .scheduled ? true : nil
        }
        // The first one starts it at once.
        for command in commands.dropFirst() {
          let words = command.replacing("\(id)-2.json", with: file).split(separator: " ")
          let result = try await stage.pushpool(words.dropFirst().map(String.init))
          #expect(result.exit == .code(0), "\(command): \(result)")
          #expect(!command.contains("--content") || result.output.contains("30 % off"))
        }
        #expect(try await client.finished("\(id)-2").counts.accepted >= 2)
        let old = try await client.finished(id)
        #expect(old.state == .cancelled && old.counts.accepted == 0)
      }
    }
  }

  @Test("a recipe that names a device names one that the page has installed")
  func devices() throws {
    #expect(Self.installed.count >= 2)
    let named = Self.recipes.map(\.text).flatMap { text in
      text.ranges(of: "\"token\": \"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
    #expect(!named.isEmpty)
    #expect(Set(named).isSubset(of: Set(Self.installed.values)), "\(named)")
  }

  @Test("no two recipes have one id")
  func ids() throws {
    let ids = try Self.recipes.map { try Job(bytes: Array($0.text.utf8)).id }
    #expect(Set(ids).count == ids.count)
  }
}
