import Glibc
import LocalServices
import Model
import PushpoolConfiguration
import Simulator
import Store
import Testing

@Suite("What a worker's machine does to it")
struct MachineTests {
  @Test("a log that nobody reads holds up neither a campaign nor the end of the worker")
  func unreadLog() async throws {
    try await PushStage.with(worker: .narrow(50)) { stage in
      let log = try FullPipe(path: stage.folder.file("worker.log"))
      try await stage.client.install(try Devices.apns(0..<500))
      let process = try stage.startProcess()
      _ = try await stage.client.enqueue(Devices.job("sale", 0..<500))
      stage.expectDelivered(try await stage.client.finished("sale"), 500)
      process.signal(SIGTERM)
      #expect(await process.waitForExit(timeoutMs: 60_000) == .code(0))
      withExtendedLifetime(log) {}
    }
  }

  @Test(
    "with too few descriptors no app starves behind others' idle connections, and the alarm names what is short"
  )
  func fewDescriptors() async throws {
    let apps = (1...12).map { "app\($0)" }
    let worker = WorkerConfiguration(
      lanes: 2, connectionsPerLane: 2, streamsPerConnection: 50, drainSeconds: 5, leaseSeconds: 10)
    try await PushStage.with(
      worker: worker, endpoints: PushStage.Endpoints(hasFCM: false, moreApps: apps)
    ) { stage in
      let client = stage.client
      for app in apps {
        try await client.install(
          try Devices.apns(0..<20).map { installation in
            Installation(app: app, user: installation.user, token: installation.token)
          })
      }
      // Of the 52 that the connections alone may take.
      let process = try stage.startProcess(behind: ["prlimit", "--nofile=16:30"])
      try await stage.waitUntilBeating(1)
      for round in 1...2 {
        for app in apps {
          _ = try await client.enqueue(
            Devices.job("job\(round)", 0..<20).replacing("\"shop\"", with: "\"\(app)\""))
        }
        for app in apps {
          let record = try await client.finished("job\(round)", app: app)
          #expect(record.counts.accepted == 20)
        }
      }
      let alarms = try await client.alarms()
      #expect(alarms.map(\.field).allSatisfy { $0.hasPrefix("descriptors|") })
      #expect(alarms.count == 1)
      #expect(alarms.first?.message.contains("Too many open files") == true)
      let log = try #require(TextFile.read(stage.folder.file("worker.log"), bytesMax: 1 << 20))
      #expect(log.contains("this worker may open 30 files"))
      #expect(process.exit == nil)
      #expect(await process.terminate(graceMs: 30_000) == .code(0))
    }
  }
}
