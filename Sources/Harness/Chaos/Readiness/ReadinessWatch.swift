import LocalServices
import Stage

/// Looks at the health files of a stage's workers and at the roles of its servers, again and again while something goes on.
enum ReadinessWatch {
  private static let lookMs: UInt64 = 100

  /// Runs the body beside it.
  static func beside<Value>(
    _ stage: ChaosStage, _ body: () async throws -> Value
  ) async throws -> (Value, ReadinessReport) {
    let isOver = Notice()
    let looking = Task { try await look(stage, until: isOver) }
    defer { looking.cancel() }
    let value = try await body()
    isOver.raise()
    let readiness = try await looking.value
    let arrivals = await stage.fleet.members.map {
      ($0.number, RedisArrival.all(inLog: $0.logFile))
    }
    return (value, readiness.report(Dictionary(uniqueKeysWithValues: arrivals)))
  }

  private static func look(_ stage: ChaosStage, until isOver: Notice) async throws -> Readiness {
    var readiness = Readiness()
    while !isOver.isRaised {
      let files = await stage.fleet.members.map { (number: $0.number, path: $0.healthFile) }
      await look(at: files, stage.standby.servers, &readiness)
      try await ChaosStage.pause(ms: lookMs)
    }
    return readiness
  }

  /// Looks once.
  /// - Parameter files: the numbers of workers, and their health files.
  static func look(
    at files: [(number: Int, path: String)], _ servers: [RedisServer],
    _ readiness: inout Readiness
  ) async {
    // Before the servers are asked: their answers then hold after the files were written.
    for (number, path) in files {
      guard let health = WorkerHealth(file: path), health.isReady else { continue }
      readiness.note(readyWorker: number, writtenMs: health.writtenMs)
    }
    for server in servers {
      guard let port = server.port else { continue }
      let atMs = EpochClock.nowMs()
      readiness.note(server: port, isReplica: await server.role() == "slave", atMs: atMs)
    }
  }
}
