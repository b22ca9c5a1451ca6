import Glibc
import LocalServices
import Testing

@testable import Chaos

@Suite("readiness of workers beside failovers")
struct ReadinessTests {
  /// A server that calls itself a replica from one second until another.
  private static func readiness(replica span: ClosedRange<Int64>) -> Readiness {
    var readiness = Readiness()
    for atMs in stride(from: Int64(0), through: 20_000, by: 100) {
      readiness.note(server: 7_001, isReplica: span.contains(atMs), atMs: atMs)
      readiness.note(server: 7_002, isReplica: false, atMs: atMs)
    }
    return readiness
  }

  @Test("finds a worker that is ready at a server which has been a replica for a while")
  func findsReplicas() {
    var readiness = Self.readiness(replica: 5_000...15_000)
    for atMs in stride(from: Int64(500), to: 20_000, by: 1_000) {
      readiness.note(readyWorker: 3, writtenMs: atMs)
      readiness.note(readyWorker: 3, writtenMs: atMs)
    }
    let arrivals = [3: [RedisArrival(port: 7_001, atMs: 100)]]
    let report = readiness.report(arrivals)
    #expect(report.readyCount == 20)
    // From 7,500 to 14,500: before that a worker may not have heard of it yet.
    #expect(report.faults.count == 8)
    #expect(report.faults.first?.contains("worker 3") == true)
    #expect(report.faults.first?.contains("127.0.0.1:7001") == true)
  }

  @Test("goes by the server that the worker was connected to as it wrote")
  func followsArrivals() {
    var readiness = Self.readiness(replica: 0...20_000)
    for atMs in [4_000, 9_000, 14_000] { readiness.note(readyWorker: 1, writtenMs: Int64(atMs)) }
    let arrivals = [
      1: [(7_002, 100), (7_001, 8_000), (7_002, 12_000)].map {
        RedisArrival(port: UInt16($0.0), atMs: Int64($0.1))
      }
    ]
    #expect(readiness.report(arrivals).faults.count == 1)
    // What was not written as it came there does not count as written there.
    let others = [1: [RedisArrival(port: 7_002, atMs: 100)]]
    #expect(readiness.report(others).faults.isEmpty)
    #expect(readiness.report([:]).faults.count == 3)
  }

  @Test("a server that does not say for once what it is counts as no replica meanwhile")
  func needsAnswers() {
    var readiness = Readiness()
    for atMs in stride(from: Int64(0), through: 5_000, by: 100) {
      readiness.note(server: 7_001, isReplica: atMs != 3_000, atMs: atMs)
    }
    readiness.note(readyWorker: 1, writtenMs: 4_050)
    let arrivals = [1: [RedisArrival(port: 7_001, atMs: 0)]]
    #expect(readiness.report(arrivals).faults.isEmpty)
    readiness.note(readyWorker: 1, writtenMs: 5_050)
    // Nothing was seen of the server after that.
    #expect(readiness.report(arrivals).faults.isEmpty)
  }

  @Test("reads from a worker's log where it was connected, and when")
  func readsLog() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("worker.log")
    let lines = [
      #"{"time":"2026-11-29T10:00:00.250Z","level":"info","message":"connected to Redis","server":"127.0.0.1:7001"}"#,
      #"{"time":"2026-11-29T10:00:01.000Z","level":"warning","message":"no Redis: it is not connected to Redis"}"#,
      "half a line of connected to Redis",
      #"{"time":"2026-11-29T10:00:02.500Z","level":"info","message":"connected to Redis","server":"127.0.0.1:7002"}"#,
    ]
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: file)
    let arrivals = RedisArrival.all(inLog: file)
    #expect(arrivals.map(\.port) == [7_001, 7_002])
    #expect(arrivals.last.map { $0.atMs - arrivals[0].atMs } == 2_250)
    #expect(RedisArrival.all(inLog: folder.file("none")).isEmpty)
  }

  @Test("looks at health files and at what real servers are")
  func looks() async throws {
    let folder = try TemporaryFolder()
    let files = ["ready\n", "starting\nno Redis\n", "read"].enumerated().map {
      (number: $0.offset, path: folder.file("\($0.offset).health"), text: $0.element)
    }
    for file in files { try PrivateFile.write(file.text, to: file.path) }
    #expect(files.map { WorkerHealth(file: $0.path)?.isReady } == [true, false, false])
    #expect(WorkerHealth(file: folder.file("none")) == nil)

    var options = RedisServer.Options()
    options.tcp = true
    try await RedisServer.with(options) { master in
      let port = try #require(master.port)
      var following = options
      following.configuration = ["replicaof 127.0.0.1 \(port)"]
      try await RedisServer.with(following) { replica in
        let replicaPort = try #require(replica.port)
        var readiness = Readiness(graceMs: 0)
        let looked = files.map { (number: $0.number, path: $0.path) }
        await ReadinessWatch.look(at: [], [master, replica], &readiness)
        // Written again between two looks: a file has the time of the kernel's last tick.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let lookedMs = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        while WorkerHealth(file: files[0].path)?.writtenMs ?? 0 <= lookedMs {
          try PrivateFile.write(files[0].text, to: files[0].path)
          sched_yield()
        }
        await ReadinessWatch.look(at: looked, [master, replica], &readiness)
        let atReplica = [0: [RedisArrival(port: replicaPort, atMs: 0)]]
        #expect(readiness.report(atReplica).readyCount == 1)
        #expect(readiness.report(atReplica).faults.count == 1)
        #expect(readiness.report([0: [RedisArrival(port: port, atMs: 0)]]).faults.isEmpty)
      }
    }
  }

  @Test("a row fails where a worker was ready at a replica, and where none was seen to be ready")
  func failsRow() {
    func row(_ report: ReadinessReport) -> RowResult {
      var result = RowResult(29, "failover")
      result.take(report, "asked")
      return result
    }
    #expect(row(ReadinessReport(readyCount: 3)).isPassed)
    #expect(!row(ReadinessReport()).isPassed)
    let bad = row(ReadinessReport(readyCount: 3, faults: ["worker 1 called itself ready"]))
    #expect(bad.failures.count == 1)
    #expect(bad.failures.first?.hasPrefix("asked: 1 times") == true)
  }

  @Test("a row tells each of its phases apart")
  func tellsPhases() {
    var result = RowResult(29, "failover")
    var reckoning = Reckoning()
    reckoning.pushes = 1_000
    reckoning.duplicates = 12
    result.note(phase: "killed", reckoning, duplicatesMax: 400, recoverySeconds: 2.34)
    result.note(phase: "astray", reckoning, duplicatesMax: 400, recoverySeconds: nil)
    #expect(
      result.notes == [
        "killed: work went on after 2.3 s at the latest; of 1000 pushes 0 were lost and 12 sent twice, 400 at most",
        "astray: of 1000 pushes 0 were lost and 12 sent twice, 400 at most",
      ])
  }
}
