import Model
import PushpoolConfiguration
import Reactor
import Redis
import Simulator
import Store
import Testing

@testable import Worker

/// The figures that workers tell with their beats.
@Suite struct BeatTests {
  private func figures(_ stage: PushStage) async throws -> [String: WorkerFigures] {
    var found: [String: WorkerFigures] = [:]
    let names = try await stage.client.command("ZRANGE", "pushpool:workers", "0", "-1").array ?? []
    for name in names.compactMap(\.string) {
      let fields = try await stage.client.command("HGETALL", "pushpool:worker:\(name)").pairs
      found[name] = WorkerFigures(Dictionary(fields, uniquingKeysWith: { $1 }))
    }
    return found
  }

  @Test("a beat tells the memory of the process, and how much its control group allows")
  func tellsMemory() async throws {
    try await PushStage.with { stage in
      try await stage.withWorkers { workers in
        let key = "pushpool:worker:\(workers[0].name)"
        let told = try await eventually("it beats") {
          let pairs = try await stage.client.command("HGETALL", key).pairs
          let fields = Dictionary(pairs, uniquingKeysWith: { $1 })
          return fields["memory_limit_bytes"] == nil ? nil : fields
        }
        let limit = ProcessMemory(ControlGroup()).bytesMax ?? 0
        #expect(told["memory_limit_bytes"] == String(limit))
        #expect(told["rss_bytes"].flatMap { Int($0) } ?? 0 > 1 << 20)
      }
    }
  }

  @Test("a beat tells of answers, streams, GOAWAYs, Redis, the lanes' lag and the process")
  func tells() async throws {
    let script = SimulatorScript.stage { $0.goAwayAfter = 60 }
    try await PushStage.with(script: script, worker: .narrow(20)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<200))
      try await stage.withWorkers { workers in
        _ = try await client.enqueue(Devices.job("sale", 0..<200))
        let record = try await client.finished("sale")
        #expect(record.counts.accepted == 200)
        let told = try await eventually("a beat tells of all answers") {
          let told = try await figures(stage)[workers[0].name]
          let answers = told?.answers[.apns]?.counts.reduce(0, +) ?? 0
          return answers >= 200 ? told : nil
        }
        let connections = try #require(told.connections[.apns])
        #expect(connections.goAways >= 1 && connections.streamsAllowed <= 20)
        #expect(told.connections[.fcm] == nil && told.answers[.fcm] == nil)
        #expect(try #require(told.redis).counts.reduce(0, +) > 0)
        #expect(try #require(told.lag).counts.reduce(0, +) > 0)
        #expect(told.cpuMs > 0 && told.openFiles > 3 && told.openFilesMax > told.openFiles)
        // The counters of the process go on from where they are, and status shows none of those that only monitors read.
        let later = try await eventually("another beat tells") {
          let later = try await figures(stage)[workers[0].name]
          return later.flatMap { later in
            (later.lag?.counts.reduce(0, +) ?? 0) > (told.lag?.counts.reduce(0, +) ?? 0)
              ? later : nil
          }
        }
        #expect(later.cpuMs >= told.cpuMs && later.answers[.apns] == told.answers[.apns])
      }
      #expect(try await figures(stage).isEmpty, "a worker that leaves takes its figures along")
    }
  }
}
