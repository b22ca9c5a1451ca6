import Dispatch
import Glibc
import LocalServices
import Logging
import Model
import Providers
import PushpoolConfiguration
import Reactor
import Testing

@testable import Worker

@Suite struct ConfigurationKeeperTests {
  let folder: ReloadFolder

  init() throws {
    folder = try ReloadFolder()
    try folder.write(["shop", "news"])
  }

  /// Asks for the configuration as a signal does, and loads it.
  private func load(_ keeper: ConfigurationKeeper) async {
    await keeper.ask()
    _ = await keeper.turn()
  }

  /// Looks as the keeper does by itself, until files that have changed lie still.
  private func look(_ keeper: ConfigurationKeeper) async {
    var waitMs = await keeper.turn()
    while waitMs == WorkerLimits.filesSettleMs { waitMs = await keeper.turn() }
  }

  @Test("an app that is added or removed is taken over, and what did not change keeps its number")
  func takesOver() async throws {
    try await folder.withKeeper { keeper, taken in
      let first = keeper.current.apps.directory
      #expect(await keeper.turn() == WorkerLimits.fewFilesLookMs)
      #expect(taken.count == 0)
      try folder.write(["shop", "third"])
      await look(keeper)
      let next = try #require(taken.last?.apps.directory)
      #expect(taken.count == 1)
      #expect(next.numbers(app: "shop") == first.numbers(app: "shop"))
      #expect(next.numbers(app: "news").isEmpty && next.numbers(app: "third") == [2])
      #expect(
        taken.lines.has(
          .notice, "the configuration was loaded anew: 1 app added, 1 app removed",
          ["added": "third", "removed": "news"]))
      // Nothing has changed since.
      #expect(await keeper.turn() == WorkerLimits.fewFilesLookMs)
      #expect(taken.count == 1)
    }
  }

  @Test("a key that is replaced under its key id is another entry, and another digest of the whole")
  func takesKey() async throws {
    try await folder.withKeeper { keeper, taken in
      let before = taken.fields
      try folder.replaceKey(of: "shop")
      await look(keeper)
      let next = try #require(taken.last?.apps.directory)
      #expect(next.numbers(app: "shop") == [2] && next.numbers(app: "news") == [1])
      #expect(
        taken.lines.has(.notice, "1 app changed", ["changed": "shop (apns.production)"]))
      #expect(taken.fields["configuration_digest"] != before["configuration_digest"])
      #expect(!taken.lines.all.joined().contains("PRIVATE"))
    }
  }

  @Test(
    "a configuration that is refused changes nothing, raises an alarm with file, line and field, and a good one ends it"
  )
  func refuses() async throws {
    try await folder.withKeeper { keeper, taken in
      let before = keeper.current.digest
      let good = try #require(TextFile.read(folder.file, bytesMax: 1 << 16))
      func expectRefused(_ words: String, at place: String) async throws {
        await look(keeper)
        let alarm = try #require(taken.standing.alarmCondition)
        #expect(alarm.field == "configuration|\(place)")
        #expect(taken.fields["configuration_alarm"] == alarm.field)
        #expect(alarm.sentence.contains("the former one goes on"))
        #expect(alarm.sentence.contains(words), "\(alarm.sentence)")
        #expect(taken.lines.has(.error, words))
        #expect(taken.count == 0 && keeper.current.digest == before)
      }
      try PrivateFile.write(
        good.replacing("topic: com.example.news", with: "topik: x"), to: folder.file)
      try await expectRefused(
        "pushpool.yaml:16: apps[1].apns.production.topik", at: "apps[1].apns.production.topik")
      // The same for the half of a file, for a file of one app, and for no app at all.
      try PrivateFile.write(good.replacing("apps:", with: "apps: ["), to: folder.file)
      try await expectRefused("is not YAML", at: FieldPointer.printable(folder.file))
      try PrivateFile.write("apps: []\n", to: folder.file)
      try await expectRefused("apps: is empty", at: "apps")
      try PrivateFile.write(good, to: folder.file)
      try PrivateFile.write("no key", to: folder.keyFile(of: "news"))
      try await expectRefused(
        "pushpool.yaml:13: apps[1].apns.production.key_file",
        at: "apps[1].apns.production.key_file")
      // Said once, however often it is looked at.
      let said = taken.lines.all.count
      await look(keeper)
      #expect(taken.lines.all.count == said)

      try folder.copyKey(to: "news")
      await look(keeper)
      #expect(taken.standing.alarmCondition == nil && taken.fields["configuration_alarm"] == "")
      #expect(taken.count == 0, "it is the one that is in force")
      #expect(taken.lines.has(.notice, "nothing has changed"))
    }
  }

  @Test("files that servers alone use are not looked at, so that none of them keeps a change out")
  func leavesServe() async throws {
    let serve = "serve: {user_tokens: [{app: shop, algorithm: HS256, key_file: users.key}]}"
    try folder.write(["shop", "news"], serve)
    try await folder.withKeeper { keeper, taken in
      try folder.write(["shop"], serve)
      await look(keeper)
      #expect(taken.standing.alarmCondition == nil)
      #expect(taken.last?.configuration.apps.map(\.id) == ["shop"])
      // Nor is it a change when there is one.
      try PrivateFile.write("secret", to: folder.folder.file("users.key"))
      #expect(await keeper.turn() == WorkerLimits.fewFilesLookMs)
      await load(keeper)
      try PrivateFile.write("other", to: folder.folder.file("users.key"))
      #expect(await keeper.turn() == WorkerLimits.fewFilesLookMs)
    }
  }

  @Test("a new app with a bad file is refused with all else, and not left out")
  func refusesNewApp() async throws {
    try await folder.withKeeper { keeper, taken in
      try PrivateFile.write("no key", to: folder.keyFile(of: "bad"))
      try folder.write(["shop", "bad", "third"])
      await look(keeper)
      #expect(taken.count == 0)
      #expect(taken.standing.alarmCondition?.sentence.contains("apps[1]") == true)
      try folder.copyKey(to: "bad")
      await look(keeper)
      #expect(taken.last?.configuration.apps.map(\.id) == ["shop", "bad", "third"])
      #expect(taken.standing.alarmCondition == nil)
    }
  }

  @Test("an app that was left out at the start stops no change, and is taken in once it is mended")
  func takesInMended() async throws {
    try PrivateFile.write("no key", to: folder.keyFile(of: "news"))
    try await folder.withKeeper { keeper, taken in
      #expect(keeper.current.apps.leftOut.map(\.id) == ["news"])
      try folder.write(["shop", "news", "third"])
      await look(keeper)
      #expect(taken.last?.apps.directory.numbers(app: "third").count == 1)
      #expect(taken.last?.apps.leftOut.map(\.id) == ["news"])
      // Also while the configuration that is there is refused.
      let good = try #require(TextFile.read(folder.file, bytesMax: 1 << 16))
      try PrivateFile.write(good + "nonsense: 1\n", to: folder.file)
      try folder.copyKey(to: "news")
      await look(keeper)
      #expect(taken.standing.alarmCondition != nil)
      #expect(taken.last?.apps.leftOut.isEmpty == true)
      #expect(taken.lines.has(.notice, "1 app mended", ["mended": "news"]))
      try PrivateFile.write(good, to: folder.file)
      await look(keeper)
      #expect(taken.standing.alarmCondition == nil && keeper.current.apps.leftOut.isEmpty)
    }
  }

  @Test("of very many apps that were left out each is tried again, also while the rest stay as bad")
  func triesEachAgain() async throws {
    let bad = (0...WorkerLimits.leftOutTriedMax).map { "bad\($0)" }
    for app in bad { try PrivateFile.write("no key", to: folder.keyFile(of: app)) }
    try folder.write(["shop"] + bad)
    try await folder.withKeeper { keeper, taken in
      let last = try #require(keeper.current.apps.leftOut.last?.id)
      let good = try #require(TextFile.read(folder.file, bytesMax: 1 << 20))
      try PrivateFile.write(good + "nonsense: 1\n", to: folder.file)
      try folder.copyKey(to: last)
      await load(keeper)
      #expect(taken.count == 0, "the others are tried first, and nothing is new for the lanes")
      await load(keeper)
      #expect(taken.lines.has(.notice, "1 app mended", ["mended": "\(last)"]))
      #expect(taken.last?.apps.leftOut.count == WorkerLimits.leftOutTriedMax)
      #expect(taken.standing.alarmCondition != nil)
    }
  }

  @Test("a strict worker leaves no app out, whenever it loads")
  func isStrict() async throws {
    try await folder.withKeeper(isStrict: true) { keeper, taken in
      unlink(folder.keyFile(of: "news"))
      await look(keeper)
      #expect(taken.standing.alarmCondition != nil && taken.count == 0)
      #expect(keeper.current.apps.leftOut.isEmpty)
    }
  }

  @Test("rules and the level of the log change without a restart; lanes and Redis wait for one")
  func tellsWhatWaits() async throws {
    let levels = ReloadFolder.Levels()
    try await folder.withKeeper(levels: levels) { keeper, taken in
      #expect(taken.fields["restart_awaited_by"] == "")
      try folder.write(
        ["shop", "news"],
        """
        redis: {url: "redis://:new-secret@127.0.0.1:6399/0"}
        worker: {lanes: 3, unrouted_seconds: 5}
        jobs: {retention_hours: 3}
        log: {level: debug}
        """, fields: ["news": "events_per_minute: 7"])
      await look(keeper)
      let snapshot = try #require(taken.last.map { WorkerSnapshot($0.configuration, $0.apps) })
      #expect(snapshot.rules.unroutedMs == 5_000)
      #expect(snapshot.rules.retention["shop"].manySeconds == 3 * 3_600)
      #expect(snapshot.rules.eventsPerMinute["news"] == 7)
      #expect(levels.told == [.debug])
      #expect(taken.fields["restart_awaited_by"] == "redis.url, worker.lanes")
      #expect(taken.lines.has(.warning, "restart it for: redis.url, worker.lanes"))
      #expect(
        taken.lines.has(
          .notice, "settings changed",
          [
            "changed": "news (events_per_minute)",
            "settings": "jobs, worker.unrouted_seconds, log.level",
          ]))
      #expect(!taken.lines.all.joined().contains("new-secret"))
      // As before again.
      try folder.write(["shop", "news"])
      await look(keeper)
      #expect(taken.fields["restart_awaited_by"] == "" && levels.told == [.debug, .info])
    }
  }

  @Test("who asks is told, also when nothing has changed; nobody else is")
  func tellsWhoAsks() async throws {
    try await folder.withKeeper { keeper, taken in
      await load(keeper)
      #expect(
        taken.lines.has(.notice, "the configuration was loaded anew, and nothing has changed"))
      let said = taken.lines.all.count
      // Written anew with the same content.
      try folder.write(["shop", "news"])
      try folder.copyKey(to: "shop")
      await look(keeper)
      #expect(taken.lines.all.count == said && taken.count == 0)
    }
  }

  @Test("it runs until its end, which does not wait for the next look")
  func ends() async throws {
    try await folder.withKeeper { keeper, taken in
      let running = Task(executorPreference: keeper.loop) { await keeper.run() }
      await keeper.ask()
      while taken.lines.all.isEmpty { await Task.yield() }
      #expect(await keeper.end(running, withinMs: 60_000))
    }
  }

  @Test("its end does not wait for a file system that hangs under its thread")
  func endsBesideHangingFile() async throws {
    let gate = DispatchSemaphore(value: 0)
    let (readings, reading) = AsyncStream.makeStream(of: Void.self)
    let onRead: @Sendable () -> Void = {
      reading.yield()
      gate.wait()
    }
    try await folder.withKeeper(onRead: onRead) { keeper, _ in
      let running = Task(executorPreference: keeper.loop) { await keeper.run() }
      await keeper.ask()
      for await _ in readings { break }
      #expect(await !keeper.end(running, withinMs: 20))
      gate.signal()
      #expect(await keeper.end(running, withinMs: 60_000))
    }
  }
}
