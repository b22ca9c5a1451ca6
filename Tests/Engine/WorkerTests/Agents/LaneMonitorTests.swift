import Reactor
import Model
import Providers
import Store
import Testing

@testable import Worker

@Suite struct LaneMonitorTests {
  @Test("a network in trouble is an alarm until it is over, and answer times are counted")
  func reports() async throws {
    try await LaneStage.with { _, parts in
      let clock = parts.settings.shared.clock
      let monitor = LaneMonitor(
        destinations: parts.sending.watch, descriptors: parts.sending.descriptors,
        reasons: parts.reasons,
        latencies: LatencyReporter(
          histogram: parts.sending.latency, metrics: parts.store.metrics, clock: clock,
          log: parts.lines.logger),
        alarms: AlarmKeeper(
          alarms: parts.store.alarms, consumer: "test-0", log: parts.lines.logger,
          nowNs: { parts.loop.nowNs }),
        process: nil)
      let destination = parts.sending.destinations.destination(0)
      destination.use(TestDirectory.credential)
      destination.pause(forMs: 60_000)
      #expect(await monitor.turn() == WorkerLimits.beatMs)
      let fields = try await parts.store.alarms.current(nowMs: 0).map(\.field)
      #expect(fields == ["credential|shop|apns|production"])

      destination.use(
        Credential(header: nil, generation: 2, expiresAtMs: .max, refreshAtMs: .max))
      try await parts.install("a", "token-a")
      try await parts.takeIn(id: "sale", users: ["a"])
      try await parts.resolver.resolveNext(try await parts.beginNext().run)
      let requests = TestRequests()
      destination.offer(1, requests)
      destination.answer(try requests.tag(0), 200)
      await monitor.finish()
      let minutes = [0, -60].map { Minute.name(epochSeconds: clock.nowMs / 1_000 + $0) }
      var counted = 0
      for minute in minutes {
        counted += try await parts.store.metrics.latency(minute).values.reduce(0, +)
      }
      #expect(counted == 1)
      _ = await monitor.turn()
      #expect(try await parts.store.alarms.current(nowMs: 0).isEmpty)
    }
  }
}
