import Logging
import Model
import Reactor
import Redis
import Store
import TestSupport
import Testing

@testable import Worker

@Suite struct SwitchWatchTests {
  private static let everyNs = WorkerLimits.switchesMs * 1_000_000

  @Test("one lane of a process asks for all of them, and another when it gets no answer")
  func asksForAll() {
    let fleet = FleetSwitches()
    let ms: UInt64 = 1_000_000
    func step(atMs at: UInt64) -> String {
      switch fleet.step(nowNs: at * ms) {
      case .ask: "ask"
      case .wait: "wait"
      case .rest: "rest"
      }
    }
    #expect(step(atMs: 1_000) == "ask" && step(atMs: 1_001) == "wait")
    #expect(step(atMs: 1_199) == "wait" && step(atMs: 1_200) == "ask")
    fleet.tell(FleetSwitches.Answer(reading: SwitchReading(), askedNs: 1_200 * ms))
    // An answer that comes later to an earlier question says less.
    fleet.tell(FleetSwitches.Answer(reading: SwitchReading(count: 1), askedNs: 1_000 * ms))
    #expect(fleet.last?.askedNs == 1_200 * ms && fleet.last?.reading == SwitchReading())
    #expect(step(atMs: 1_199) == "rest" && step(atMs: 1_599) == "rest")
    #expect(step(atMs: 1_600) == "ask" && step(atMs: 1_600) == "wait")
    // It is told at once that there is no answer, and by nobody else.
    fleet.giveUp(begunNs: 1_599 * ms)
    #expect(step(atMs: 1_601) == "wait")
    fleet.giveUp(begunNs: 1_600 * ms)
    #expect(step(atMs: 1_601) == "ask")
  }

  @Test("what one lane was told all of a process use, and look again when it is as old as that")
  func sharesAnswers() async throws {
    try await LaneStage.with { _, parts in
      var nowNs: UInt64 = 1
      let fleet = FleetSwitches()
      var told = [[Switches]](repeating: [], count: 2)
      let watches = (0..<2).map { number in
        SwitchWatch(
          store: parts.store, fleet: fleet, nowNs: { nowNs }, log: parts.lines.logger,
          reasons: parts.reasons, isLogging: false, onChange: { told[number].append($0) })
      }
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      #expect(await watches[0].turn() == WorkerLimits.switchesMs)
      _ = try await parts.store.switches.switchOn(.app("shop"))
      nowNs += Self.everyNs / 4
      #expect(await watches[1].turn() == WorkerLimits.switchesMs * 3 / 4)
      #expect(told.map(\.count) == [1, 1] && told[1][0].stops(app: "shop", bucket: nil))
      nowNs += Self.everyNs * 3 / 4
      _ = await watches[1].turn()
      #expect(told.map(\.count) == [1, 2] && told[1][1].isEmpty)
      _ = await watches[0].turn()
      #expect(told.map(\.count) == [2, 2] && told[0][1].isEmpty)
    }
  }

  @Test("what is switched off is told when it changes, and logged by one lane of a process")
  func tellsChanges() async throws {
    try await LaneStage.with { _, parts in
      var told: [Switches] = []
      var nowNs: UInt64 = 0
      let fleet = FleetSwitches()
      let watch = SwitchWatch(
        store: parts.store, fleet: fleet, nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: true, onChange: { told.append($0) })
      let silent = SwitchWatch(
        store: parts.store, fleet: fleet, nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: false, onChange: { _ in })
      #expect(await watch.turn() == WorkerLimits.switchesMs)
      #expect(told.isEmpty)
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      nowNs += Self.everyNs
      _ = await watch.turn()
      nowNs += Self.everyNs
      _ = await watch.turn()
      _ = await silent.turn()
      #expect(told.count == 1 && told[0].stops(app: "shop", bucket: nil))
      #expect(parts.lines.all == ["notice: what is switched off has changed"])
      _ = try await parts.store.switches.switchOn(.app("shop"))
      nowNs += Self.everyNs
      _ = await watch.turn()
      #expect(told.count == 2 && told[1].isEmpty)
    }
  }

  @Test("a lane that cannot ask leaves it to another at once")
  func leavesAsking() async throws {
    try await LaneStage.with { _, parts in
      let fleet = FleetSwitches()
      let watch = SwitchWatch(
        store: parts.store, fleet: fleet, nowNs: { 1 }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: false, onChange: { _ in })
      parts.store.connection.close()
      #expect(await watch.turn() == WorkerLimits.switchesMs)
      #expect(fleet.step(nowNs: 1) == .ask)
    }
  }

  @Test("an answer that came late is used by all, whoever asks next")
  func usesLateAnswers() async throws {
    try await LaneStage.with { _, parts in
      var nowNs: UInt64 = 1
      let fleet = FleetSwitches()
      _ = fleet.step(nowNs: nowNs)
      var told = 0
      let watch = SwitchWatch(
        store: parts.store, fleet: fleet, nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: false, onChange: { _ in told += 1 })
      #expect(await watch.turn() == WorkerLimits.switchesSoonMs)
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      fleet.tell(
        FleetSwitches.Answer(reading: try await parts.store.switches.read(), askedNs: nowNs))
      nowNs += 2 * Self.everyNs
      // Another asks for the next one.
      _ = fleet.step(nowNs: nowNs)
      #expect(await watch.turn() == WorkerLimits.switchesSoonMs)
      #expect(told == 1)
    }
  }

  @Test("what was asked for not long ago is not asked for again")
  func asksWhenOld() async throws {
    try await LaneStage.with { _, parts in
      var nowNs: UInt64 = 1
      var changes = 0
      let watch = SwitchWatch(
        store: parts.store, fleet: FleetSwitches(), nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: true, onChange: { _ in changes += 1 })
      try await watch.readIfOld()
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      nowNs += WorkerLimits.switchesAgeMsMax * 1_000_000
      try await watch.readIfOld()
      #expect(changes == 0)
      nowNs += 1
      try await watch.readIfOld()
      #expect(changes == 1)
    }
  }

  @Test("all who want to know what is off while it is being asked share one more question")
  func asksOnceForMany() async throws {
    try await LaneStage.with { lane, parts in
      let watch = SwitchWatch(
        store: parts.store, fleet: FleetSwitches(), nowNs: { 1 }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: true, onChange: { _ in })
      _ = try await parts.redis("CONFIG", "RESETSTAT")
      var ended = 0
      let end = LoopSignal(loop: lane.loop)
      for _ in 0..<20 {
        Task {
          _ = lane
          try? await watch.readIfOld()
          ended += 1
          if ended == 20 { end.raise() }
        }
      }
      try #require(await end.wait(upToMs: 60_000))
      let stats = try await parts.redis("INFO", "commandstats").string
      #expect(stats?.contains("cmdstat_fcall:calls=1,") == true)
    }
  }

  @Test("what was off stays off while its key is something else")
  func keepsOff() async throws {
    try await LaneStage.with { _, parts in
      var told: [Switches] = []
      var nowNs: UInt64 = 1
      let watch = SwitchWatch(
        store: parts.store, fleet: FleetSwitches(), nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: true, onChange: { told.append($0) })
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      _ = await watch.turn()
      _ = try await parts.redis("SET", parts.store.keys.switches, "text")
      nowNs += Self.everyNs
      _ = await watch.turn()
      #expect(told.count == 1 && told[0].stops(app: "shop", bucket: nil))
      #expect(parts.lines.has(.warning, "is no HASH"))
    }
  }

  @Test("what was never known is not taken for nothing, and is known when the key is mended")
  func standsStill() async throws {
    try await LaneStage.with { _, parts in
      var told: [Switches] = []
      var nowNs: UInt64 = 1
      let fleet = FleetSwitches()
      let watch = SwitchWatch(
        store: parts.store, fleet: fleet, nowNs: { nowNs }, log: parts.lines.logger,
        reasons: parts.reasons, isLogging: true, onChange: { told.append($0) })
      _ = try await parts.redis("SET", parts.store.keys.switches, "text")
      _ = await watch.turn()
      #expect(watch.isOld && fleet.last == nil)
      let refusal = await failure { try await watch.readIfOld() }
      guard case .server("WRONGTYPE", _) = refusal else {
        Issue.record("\(String(describing: refusal))")
        return
      }
      #expect(parts.lines.has(.warning, "nothing is sent"))
      _ = try await parts.redis("DEL", parts.store.keys.switches)
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      nowNs += Self.everyNs
      try await watch.readIfOld()
      #expect(!watch.isOld && told.count == 1 && told[0].stops(app: "shop", bucket: nil))
    }
  }
}
