import LocalServices
import Model
import TestSupport
import Testing

/// Each job of the recipes, sent as it stands in the guide.
@Suite struct RecipeTests {
  private static let recipes = DocumentSnippet.all("json", in: "docs/guides/recipes.md")

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
      try apns("u1", 1), try fcm("u1", token: "cX1-token-of-u1:APA91"), try apns("u2", 2),
      activity, calls, try Devices.jpush(4, user: "u3"),
    ]
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

  @Test("no two recipes have one id")
  func ids() throws {
    let ids = try Self.recipes.map { try Job(bytes: Array($0.text.utf8)).id }
    #expect(Set(ids).count == ids.count)
  }
}
