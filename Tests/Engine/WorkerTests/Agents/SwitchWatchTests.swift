import Logging
import Model
import Store
import Testing

@testable import Worker

@Suite struct SwitchWatchTests {
  @Test("what is switched off is told when it changes, and logged by one lane of a process")
  func tellsChanges() async throws {
    try await LaneStage.with { _, parts in
      var told: [Switches] = []
      let watch = SwitchWatch(
        store: parts.store, nowNs: { 0 }, log: parts.lines.logger, reasons: parts.reasons,
        isLogging: true, onChange: { told.append($0) })
      let silent = SwitchWatch(
        store: parts.store, nowNs: { 0 }, log: parts.lines.logger, reasons: parts.reasons,
        isLogging: false, onChange: { _ in })
      #expect(await watch.turn() == WorkerLimits.switchesMs)
      #expect(told.isEmpty)
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      _ = await watch.turn()
      _ = await watch.turn()
      _ = await silent.turn()
      #expect(told.count == 1 && told[0].stops(app: "shop", bucket: nil))
      #expect(parts.lines.all == ["notice: what is switched off has changed"])
      _ = try await parts.store.switches.switchOn(.app("shop"))
      _ = await watch.turn()
      #expect(told.count == 2 && told[1].isEmpty)
    }
  }

  @Test("what was asked for not long ago is not asked for again")
  func asksWhenOld() async throws {
    try await LaneStage.with { _, parts in
      var nowNs: UInt64 = 1
      var changes = 0
      let watch = SwitchWatch(
        store: parts.store, nowNs: { nowNs }, log: parts.lines.logger, reasons: parts.reasons,
        isLogging: true, onChange: { _ in changes += 1 })
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

  @Test("what was off stays off while its key is something else")
  func keepsOff() async throws {
    try await LaneStage.with { _, parts in
      var told: [Switches] = []
      let watch = SwitchWatch(
        store: parts.store, nowNs: { 1 }, log: parts.lines.logger, reasons: parts.reasons,
        isLogging: true, onChange: { told.append($0) })
      _ = try await parts.store.switches.switchOff(.app("shop"), reason: "test")
      _ = await watch.turn()
      _ = try await parts.redis("SET", parts.store.keys.switches, "text")
      _ = await watch.turn()
      #expect(told.count == 1 && told[0].stops(app: "shop", bucket: nil))
      #expect(parts.lines.has(.warning, "is no HASH"))
    }
  }
}
