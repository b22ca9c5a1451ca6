import Dispatch
import Glibc
import LocalServices
import Logging
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Store
import Synchronization
import Testing
import Worker

/// Worker processes whose configuration changes while they run.
@Suite struct ReloadTests {
  private final class Flag: Sendable {
    private let state = Atomic(false)

    var isRaised: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
  }

  private func log(_ stage: PushStage) -> String {
    TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 20) ?? ""
  }

  /// What the only worker says of itself.
  private func beat(_ stage: PushStage) async throws -> [String: String]? {
    let names = try await stage.client.command("ZRANGE", "pushpool:workers", "0", "-1").array ?? []
    guard let name = names.first?.string else { return nil }
    let pairs = try await stage.client.command("HGETALL", "pushpool:worker:\(name)").pairs
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  /// A Secret as kubelet mounts it (AtomicWriter): each file is a link into `..data`, which is a link to the folder of a version.
  private struct MountedSecret {
    let folder: TemporaryFolder
    /// The path that a configuration names.
    var file: String { folder.file("key.p8") }

    init(_ text: String) throws {
      folder = try TemporaryFolder()
      try make("..one", text)
      #expect(symlink("..one", folder.file("..data")) == 0)
      #expect(symlink("..data/key.p8", file) == 0)
    }

    /// Replaces the content as kubelet does: in one step, and the former version goes.
    func replace(by text: String) throws {
      try make("..two", text)
      #expect(symlink("..two", folder.file("..data_tmp")) == 0)
      #expect(rename(folder.file("..data_tmp"), folder.file("..data")) == 0)
      unlink(folder.file("..one/key.p8"))
      rmdir(folder.file("..one"))
    }

    private func make(_ version: String, _ text: String) throws {
      #expect(mkdir(folder.file(version), 0o700) == 0)
      try PrivateFile.write(text, to: folder.file("\(version)/key.p8"))
    }
  }

  @Test(
    "a signing key that is replaced under its key id is used soon, while a campaign goes on and other connections stay"
  )
  func replacesKey() async throws {
    let own = try TemporaryFolder()
    let other = try APNsSigningKey(folder: own.path)
    var endpoints = PushStage.Endpoints()
    endpoints.moreAPNsKeys = [
      KnownAPNsKey(keyID: other.keyID, teamID: other.teamID, file: other.file)
    ]
    let script = SimulatorScript.stage { $0.providerTokenIntervalSeconds = 0 }
    try await PushStage.with(script: script, worker: .narrow(50), endpoints: endpoints) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1_500) + Devices.fcm(1_500..<1_520))
      func text(_ file: String) throws -> String {
        try #require(TextFile.read(file, bytesMax: 1 << 16))
      }
      let secret = try MountedSecret(try text(stage.keyFile))
      let process = try stage.startProcess(
        environment: ["PUSHPOOL_APPS_SHOP_APNS_PRODUCTION_KEY_FILE": secret.file])
      _ = try await client.enqueue(Devices.job("warm", 1_500..<1_510))
      #expect(try await client.finished("warm").counts.accepted == 10)
      _ = try await client.enqueue(Devices.job("slow", 0..<1_500, #", "pushes_per_second": 150"#))
      try await stage.waitUntilAccepted(200)
      let before = stage.simulator.counters
      let digest = try #require(try await beat(stage)?["configuration_digest"])
      #expect(before.providerTokenVerifications == 1)

      try secret.replace(by: try text(other.file))
      let clock = ContinuousClock()
      let replacedAt = clock.now
      var (lookedAt, longestWait) = (replacedAt, Duration.zero)
      _ = try await eventually("the new key is used") {
        let now = clock.now
        (lookedAt, longestWait) = (now, max(longestWait, now - lookedAt))
        return stage.simulator.counters.providerTokenVerifications == 2 ? true : nil
      }
      // Two looks of the slower kind. On a machine that is kept busy this test waits, too.
      #expect(lookedAt - replacedAt < .seconds(2) + longestWait * 20)
      let record = try #require(try await client.record("slow"))
      #expect(record.state == .running, "it takes 10 s, and the new key 2")
      let sale = try await client.finished("slow")
      #expect(sale.counts.accepted == 1_500 && sale.isBalanced)
      _ = try await client.enqueue(Devices.job("after", 1_510..<1_520))
      #expect(try await client.finished("after").counts.accepted == 10)

      let counters = stage.simulator.counters
      #expect(stage.duplicates == 0 && counters.violations == 0)
      #expect(counters.answers[403] ?? 0 == 0 && counters.answers[429] ?? 0 == 0)
      #expect(counters.providerTokenVerifications == 2)
      // One more to APNs, with the new key; FCM's is the same.
      #expect(counters.connectionsOpened == before.connectionsOpened + 1)
      let keys = try await client.command("KEYS", "pushpool:credential:apns:*").array ?? []
      #expect(keys.count == 2)
      let told = try #require(try await beat(stage))
      #expect(told["configuration_digest"] != digest)
      let sinceMs = try #require(told["configuration_loaded_at"].flatMap { Int64($0) })
      #expect(try await client.serverMs() - sinceMs < 60_000)
      #expect(log(stage).contains(#""changed":"shop (apns.production)""#))
      #expect(process.exit == nil)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }

  @Test(
    "a broken file changes nothing and is an alarm, a good one brings an app, and another one takes it away"
  )
  func addsAndRemoves() async throws {
    try await PushStage.with(endpoints: PushStage.Endpoints(moreApps: ["news"])) { stage in
      let client = stage.client
      var lesser = stage.text
      lesser.apps.removeAll { $0.id == "news" }
      try await client.install(
        try Devices.apns(0..<20)
          + Devices.apns(0..<20, prefix: "ab").map {
            var installation = $0
            installation.app = "news"
            return installation
          })
      let process = try stage.startProcess(of: lesser)
      let waiting = Devices.job("first", 0..<20).replacing("\"shop\"", with: "\"news\"")
      _ = try await client.enqueue(waiting)
      _ = try await eventually("the job waits for a worker with its app") {
        try await client.alarms().contains { $0.field == "no_worker|news" } ? true : nil
      }
      let file = try stage.writeConfiguration(lesser)
      let good = try #require(TextFile.read(file, bytesMax: 1 << 16))
      try PrivateFile.write(good.replacing("key_id:", with: "key_it:"), to: file)
      let alarm = try await eventually("the refusal is an alarm") {
        try await client.alarms().first { $0.field.hasPrefix("configuration|") }
      }
      #expect(alarm.message.contains("\(file):"))
      #expect(alarm.message.contains("apps[0].apns.production.key_it"))
      #expect(alarm.field == "configuration|apps[0].apns.production.key_it")
      _ = try await eventually("the worker says that it refuses") {
        try await beat(stage)?["configuration_alarm"] == alarm.field ? true : nil
      }
      let status = try await stage.pushpool("status")
      #expect(status.output.contains("the configuration that is there now is refused by 1 of 1"))
      _ = try await client.enqueue(Devices.job("sale", 0..<20))
      #expect(try await client.finished("sale").counts.accepted == 20)

      _ = try stage.writeConfiguration()
      #expect(try await client.finished("first", app: "news").counts.accepted == 20)
      _ = try await eventually("the alarms end") {
        try await client.alarms().isEmpty ? true : nil
      }
      #expect(log(stage).contains(#""added":"news""#))

      _ = try stage.writeConfiguration(lesser)
      _ = try await eventually("the app is gone") {
        log(stage).contains(#""removed":"news""#) ? true : nil
      }
      _ = try await client.enqueue(waiting.replacing("\"first\"", with: "\"second\""))
      _ = try await eventually("its jobs wait again") {
        try await client.alarms().contains { $0.field == "no_worker|news" } ? true : nil
      }
      #expect(stage.duplicates == 0 && process.exit == nil)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }

  @Test("a worker that is stopped ends, also while a file system hangs under its configuration")
  func endsBesideHangingFile() async throws {
    try await PushStage.with { stage in
      let configuration = stage.configuration
      let gate = DispatchSemaphore(value: 0)
      let (readings, reading) = AsyncStream.makeStream(of: Void.self)
      let origin = ConfigurationOrigin(
        file: nil,
        read: {
          reading.yield()
          gate.wait()
          return configuration
        })
      var log = Logger(label: "pushpool.test")
      log.logLevel = .error
      let worker = try WorkerService(configuration: configuration, from: origin, logger: log)
      // Whatever fails below: the thread that reads goes on, and ends.
      defer { gate.signal() }
      let isOver = Flag()
      let running = Task {
        defer { isOver.raise() }
        try await worker.run()
      }
      worker.reload()
      for await _ in readings { break }
      worker.stop()
      _ = try await eventually("the worker ends") { isOver.isRaised ? true : nil }
      try await running.value
    }
  }

  @Test("SIGHUP loads the configuration and ends nothing; what needs a restart is told, and shown")
  func hangUp() async throws {
    try await PushStage.with(script: .slow, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<600))
      let process = try stage.startProcess()
      _ = try await client.enqueue(Devices.job("sale", 0..<600))
      try await stage.waitUntilAccepted(50)
      process.signal(SIGHUP)
      _ = try await eventually("the log says that nothing has changed") {
        log(stage).contains("the configuration was loaded anew, and nothing has changed")
          ? true : nil
      }
      var text = stage.text
      text.logLevel = "warning"
      let file = try stage.writeConfiguration(text)
      let written = try #require(TextFile.read(file, bytesMax: 1 << 16))
      try PrivateFile.write(written.replacing("lanes: 1", with: "lanes: 2"), to: file)
      process.signal(SIGHUP)
      _ = try await eventually("the beat tells what waits for a restart") {
        try await beat(stage)?["restart_awaited_by"] == "worker.lanes" ? true : nil
      }
      let status = try await stage.pushpool("status")
      #expect(status.output.contains("is to be restarted for worker.lanes"))
      #expect(status.output.contains("all have the configuration that came into force"))
      stage.expectDelivered(try await client.finished("sale"), 600)
      #expect(try await beat(stage)?["lanes"] == "1")
      #expect(process.exit == nil)
      process.signal(SIGTERM)
      #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
      // Of less than a warning nothing is said since: it started, and its end is not told.
      #expect(log(stage).ranges(of: #""message":"worker "#).count == 1)
    }
  }
}
