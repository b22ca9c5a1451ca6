import Model
import Store
import Testing

@testable import Worker

@Suite struct RouteWatchTests {
  @Test("a worker says what it has, learns what others have, and hears of work for its own")
  func learns() async throws {
    try await LaneStage.with { _, parts in
      var works = 0
      let routes = parts.settings.shared.routes
      let watch = RouteWatch(
        store: parts.store.routes, routes: routes, snapshot: parts.context.snapshot,
        log: parts.lines.logger, onWork: { works += 1 })
      #expect(await watch.turn() == WorkerLimits.routesMs)
      let other = RouteTable(fields: [("shop", "fcm|production"), ("news", "fcm|production")])
      _ = try await parts.store.routes.announce(other, waitMs: 60_000)
      #expect(await watch.turn() == WorkerLimits.routesUnequalMs)
      #expect(routes.othersHave("shop", .fcm, .production) == true)
      #expect(works == 0 && !routes.hasWork)

      _ = try await parts.store.jobs.enqueue(Array("{}".utf8), priority: .normal)
      let entry = try #require(try await parts.store.jobs.take(consumer: "w", max: 1).first)
      _ = try await parts.store.routes.passOn(
        [JobOfUnknownApp(entry: entry, app: "shop", id: "sale", suggestion: nil)],
        consumer: "w", waitMs: 60_000)[0].get()
      #expect(await watch.turn() == WorkerLimits.routesUnequalMs)
      #expect(works == 1 && routes.hasWork)
    }
  }

  @Test("all apps are looked up that were asked about since the turn before")
  func looksUpAll() async throws {
    try await LaneStage.with { _, parts in
      let routes = parts.settings.shared.routes
      let watch = RouteWatch(
        store: parts.store.routes, routes: routes, snapshot: parts.context.snapshot,
        log: parts.lines.logger, onWork: {})
      let other = RouteTable(fields: [], redisApps: ["news": "fcm|production"])
      try await parts.store.routes.add(redisApps: other.redisApps, waitMs: 60_000)
      _ = try await parts.store.routes.announce(other, waitMs: 60_000)
      _ = await watch.turn()
      let none = (0..<(3 * WorkerLimits.sharedRoutesAtOnce)).map { "none-\($0)" }
      for app in none + ["news"] {
        #expect(routes.othersHave(app, .fcm, .production) == nil)
      }
      _ = await watch.turn()
      #expect(routes.othersHave("news", .fcm, .production) == true)
      #expect(none.allSatisfy { !routes.mustLook(at: $0) })
    }
  }
}
