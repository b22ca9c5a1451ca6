import Logging
import Providers
import Reactor
import Testing

@testable import Worker

@Suite struct DispatcherTests {
  private func dispatcher() throws -> Dispatcher {
    Dispatcher(
      loop: try EventLoop(name: "test"), directory: ProviderDirectory(entries: []),
      fleet: FleetRoutes(own: ProviderDirectory(entries: []).routes(of: [])),
      settings: DispatcherSettings(
        worker: "test", connectionsMax: 1, streamsMax: 1, requestTimeoutMs: 1_000,
        shortage: DescriptorShortage()), clock: FleetClock(own: .system),
      log: Logger(label: "pushpool.test"))
  }

  @Test("an answer that comes too late is not that of another run in the same place")
  func knowsGenerations() throws {
    let dispatcher = try dispatcher()
    let first = try Claims.run(["a"])
    dispatcher.add(first)
    let tag = Dispatcher.Tag(Dispatcher.Tag(first, push: 70_000).raw)
    #expect(tag.push == 70_000)
    #expect(dispatcher.run(tag) === first)
    dispatcher.remove(first)
    #expect(dispatcher.run(tag) == nil)
    let second = try Claims.run(["b"])
    #expect(second.slot == first.slot)
    dispatcher.add(second)
    #expect(dispatcher.run(tag) == nil)
    #expect(dispatcher.run(Dispatcher.Tag(second, push: 0)) === second)
  }

  @Test(
    "pushes whose bindings are old end without Redis when their run may not send any more",
    arguments: [ChunkRun.Standing.stale, .cancelled, .paused])
  func endsOldBindings(standing: ChunkRun.Standing) throws {
    let dispatcher = try dispatcher()
    let run = try Claims.run(["a"])
    dispatcher.add(run)
    _ = run.takeBatch(max: 1)
    dispatcher.keepStaleBindings(run, run.resolve(0, devices: 2))
    run.change(to: standing)
    #expect(run.openPushes == 2)
    dispatcher.endStaleBindings(run)
    #expect(run.openPushes == 0)
    #expect(!dispatcher.hasStaleBindings(run))
  }
}
