import Model
import Redis
import Testing

@testable import Store

@Suite struct KeysTests {
  @Test func `the functions spell every key as the program does`() async throws {
    try await Lane.withStore { _, store in
      let functions = StoreFunctions(connection: store.connection, keys: store.keys)
      let spelt = try await functions.run(functions.call("keys")) { RESPValue($0).pairs }
      let keys = store.keys
      let expected: [String: String] = [
        "jobs": keys.jobs(.high).replacing("high", with: "<1>"),
        "chunks": keys.chunks(.high).replacing("high", with: "<1>"),
        "job": keys.job(app: "<1>", id: "<2>"), "content": keys.content(app: "<1>", id: "<2>"),
        "trace": keys.trace(app: "<1>", job: "<2>"),
        "parked": keys.parked(app: "<1>", id: "<2>"),
        "segment": keys.segment("<1>", source: "<2>"), "done": keys.done("<1>", source: "<2>"),
        "badges": keys.badges("<1>", source: "<2>"),
        "letter_badges": keys.letterBadges("<1>"),
        "marks": keys.marks(source: "<1>"), "read": keys.read(source: "<1>"),
        "index": keys.index(.topic("x"), app: "<1>").replacing("topic:x", with: "<2>"),
        "block": keys.block("<3>", of: .topic("x"), app: "<1>").replacing("topic:x", with: "<2>"),
        "audiences": keys.audiences(app: "<1>"), "indexed": keys.indexed,
        "leaving": keys.leaving,
        "user": keys.user(app: "<1>", user: "<2>"),
        "token": keys.token(.fcm, app: "<2>", token: "<3>").replacing("fcm", with: "<1>"),
        "tokens": keys.tokens(.fcm).replacing("fcm", with: "<1>"),
        "credential": keys.credential("<1>"), "generation": keys.generation,
        "displaced": keys.displaced("<1>"), "departed": keys.departed("<1>"),
        "guard": keys.guardKey,
        "unbound": keys.unbound, "mended": keys.mended,
        "mending": keys.mending,
        "import": keys.importTurn("<1>"), "open": keys.open,
        "delayed": keys.delayed, "promoter": keys.promoter,
        "oldest": keys.oldest, "ledger": keys.ledger,
        "ready": keys.ready(.low, app: "<2>").replacing("low", with: "<1>"),
        "ready_apps": keys.readyApps(.low).replacing("low", with: "<1>"),
        "dead": keys.dead, "letter": keys.letter("<1>"), "unfinished": keys.unfinished("<1>"),
        "uninstalled": keys.uninstalled, "audit": keys.audit, "finished": keys.finished,
        "metrics": keys.metrics("<1>"), "totals": keys.totals, "timeline": keys.timeline,
        "alarms": keys.alarms,
        "tally": keys.tally(app: "<1>", place: "<2>", minute: "<3>"),
        "share": keys.share(.low).replacing("low", with: "<1>"),
        "scout": keys.scout(.low).replacing("low", with: "<1>"),
        "express": keys.express(.low).replacing("low", with: "<1>"),
        "shard": keys.shard, "shards": keys.shards, "elsewhere": keys.elsewhere,
        "routes": keys.routes,
        "routes_gathering": keys.routesGathering, "routes_of": keys.routes("<1>"),
        "routed": keys.routed,
        "unrouted": keys.unrouted, "route_hints": keys.routeHints, "route_sweep": keys.routeSweep,
        "routes_looked": keys.routesLooked,
        "route_waiting": keys.waiting(.jobs, route: "<2>").replacing("jobs", with: "<1>"),
        "keys": keys.accessKeys, "acts": keys.acts,
        "apps": keys.apps, "app_changes": keys.appChanges,
        "switches": keys.switches, "rate": keys.rate("<1>"),
        "pace": keys.pace(app: "<1>", job: "<2>"),
        "loop": keys.loop(app: "<1>", bucket: "<2>"),
        "topic_loop": keys.topicLoop(app: "<1>", topic: "<2>"),
        "loop_letters": keys.loopLetters(app: "<1>"),
        "workers": keys.workers, "workers_since": keys.workersSince, "libraries": keys.libraries,
        "worker": keys.worker("<1>"),
      ]
      #expect(Dictionary(spelt, uniquingKeysWith: { $1 }) == expected)
    }
  }
}
