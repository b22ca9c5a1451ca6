import Glibc
import LocalServices
import Model
import Reactor
import Redis
import Stage
import Store
import TestSupport
import Testing

@Suite("Stages")
struct StageTests {
  private static let pushpool = ((try? BuiltProgram.folder()) ?? ".") + "/pushpool"
  private static let simulator = pushpool + "-simulator"
  private static let token = String(repeating: "a0", count: 32)
  private static let job =
    #"{"id":"first","app":"shop","audience":{"users":["u1"]},"notification":{"title":"Hello"}}"#

  private struct Failure: Error {}

  @Test("a worker on a stage sends a job to the simulator, and both say so")
  func delivers() async throws {
    try await Stage.with { stage in
      var options = SimulatorProcess.Options()
      options.topics = [NetworkKeys.topic]
      options.acceptLog = stage.folder.file("accepted.log")
      try await stage.withSimulator(Self.simulator, options) { simulator in
        let worker = try WorkerProcess(
          program: Self.pushpool, configurationFile: try stage.write(configuration(stage)),
          log: stage.folder.file("worker.log"))
        try await Self.send(to: stage.redis.url)
        #expect(try await simulator.counters().accepted == 1)
        #expect(try await simulator.counters().answers == [200: 1])
        let log = TextFile.read(stage.folder.file("accepted.log"), bytesMax: 10_000)
        #expect(log?.contains(Self.token) == true)
        #expect(try worker.usage().residentBytes > 1_048_576)
        #expect(await worker.stop() == .code(0))
        #expect(throws: LocalServiceError.self) { try worker.usage() }
      }
    }
  }

  @Test("a simulator follows a new script at once")
  func follows() async throws {
    try await Stage.with { stage in
      try await stage.withSimulator(Self.simulator, .init()) { simulator in
        let worker = try WorkerProcess(
          program: Self.pushpool, configurationFile: try stage.write(configuration(stage)),
          log: stage.folder.file("worker.log"))
        try await simulator.follow(#"{"all": {"status": 410, "reason": "Unregistered"}}"#)
        try await Self.send(to: stage.redis.url)
        #expect(try await simulator.counters().answers == [410: 1])
        await worker.stop()
      }
    }
  }

  @Test("a script that the simulator refuses is an error: the old one would go on unnoticed")
  func refusesScripts() async throws {
    try await Stage.with { stage in
      try await stage.withSimulator(Self.simulator, .init()) { simulator in
        await #expect(throws: LocalServiceError.self) { try await simulator.follow("{") }
        let refusedScripts = try await simulator.counters().refusedScripts
        #expect(refusedScripts == 1)
      }
    }
  }

  @Test("what a stage started is gone after it, also when the body fails")
  func cleansUp() async throws {
    let seen = Seen()
    await #expect(throws: Failure.self) {
      try await Stage.with { stage in
        try await stage.withSimulator(Self.simulator, .init()) { simulator in
          await seen.note(
            folder: stage.folder.path, processes: [simulator.pid, await stage.redis.pid])
          throw Failure()
        }
      }
    }
    #expect(await seen.processes.count == 2)
    for pid in await seen.processes { #expect(kill(pid, 0) != 0) }
    #expect(access(await seen.folder, F_OK) != 0)
  }

  @Test("a simulator that does not start is an error that names it")
  func missing() async throws {
    try await Stage.with { stage in
      await #expect(throws: LocalServiceError.self) {
        try await stage.withSimulator("/nowhere/pushpool-simulator", .init()) { _ in }
      }
      await #expect(throws: LocalServiceError.self) {
        try await stage.withSimulator("/bin/false", .init()) { _ in }
      }
    }
  }

  private actor Seen {
    var folder = ""
    var processes: [CInt] = []

    func note(folder: String, processes: [CInt]) {
      self.folder = folder
      self.processes = processes
    }
  }

  private func configuration(_ stage: Stage) -> ConfigurationText {
    ConfigurationText(
      redisURL: stage.redis.url,
      apps: [.init(apns: [.production: stage.endpoint], others: [.fcm: stage.endpoint])])
  }

  /// Installs a device, enqueues the job and waits until the job has ended.
  private static func send(to url: String) async throws {
    try await TestLane.run { lane in
      let access = try StoreAccess(loop: lane.loop, url: url)
      try await access.connect(timeoutMs: 30_000)
      _ = try await access.store.installations.importBatch([
        Installation(app: "shop", user: "u1", token: try DeviceToken(token, network: .apns))
      ])
      _ = try await access.store.jobs.enqueue(Array(job.utf8), priority: .normal)
      let deadlineNs = lane.loop.nowNs + 60_000_000_000
      while try await access.store.jobs.record(app: "shop", id: "first")?.state.isFinal != true {
        try #require(lane.loop.nowNs < deadlineNs, "the job did not end within a minute")
        await lane.loop.sleep(ms: 5)
      }
      access.close()
    }
  }
}
