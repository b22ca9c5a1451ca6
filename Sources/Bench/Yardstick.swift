import LocalServices

/// h2load, the load tool of nghttp2's authors, against the same simulator.
///
/// It keeps no queue and reads no answers' bodies for their meaning: what it needs for a request is what
/// sending alone costs.
struct Yardstick {
  struct Measurement: Sendable {
    var cpuMicrosecondsPerRequest: Double
    var requestsPerSecond: Double
  }

  private let stage: Stage
  private let arguments: [String]

  init(stage: Stage, population: Population) async throws {
    self.stage = stage
    let request = try await stage.yardstickRequest(
      population: population, paths: min(population.count, BenchLimits.yardstickPathsMax))
    let uriFile = stage.folder.file("uris")
    let bodyFile = stage.folder.file("body")
    try PrivateFile.write(request.uris, to: uriFile)
    try PrivateFile.write(request.body, to: bodyFile)
    arguments =
      [
        "--clients=\(BenchLimits.connections)", "--max-concurrent-streams=\(BenchLimits.streams)",
        "--connect-to=127.0.0.1:\(stage.simulatorPort)", "--input-file=\(uriFile)",
        "--data=\(bodyFile)",
      ] + request.headers.map { "--header=\($0)" }
  }

  /// Sends that many requests. What h2load needs to start and to read the URIs is taken off.
  func measure(requests: Int) async throws -> Measurement {
    let start = try await run(requests: BenchLimits.connections)
    let whole = try await run(requests: requests)
    return Measurement(
      cpuMicrosecondsPerRequest: (whole.cpuMicroseconds - start.cpuMicroseconds)
        / Double(requests - BenchLimits.connections),
      requestsPerSecond: whole.report.requestsPerSecond)
  }

  private func run(
    requests: Int
  ) async throws -> (cpuMicroseconds: Double, report: H2LoadReport) {
    // Nothing else that this process started ends meanwhile.
    let before = ProcessUsage.endedChildrenCPUMicroseconds
    let child = try ChildProcess(
      stage.programs.h2load, arguments + ["--requests=\(requests)"], output: .pipe)
    guard let exit = await child.waitForExit(timeoutMs: BenchLimits.campaignMsMax) else {
      throw BenchError("h2load did not end within \(BenchLimits.campaignMsMax / 1_000) s")
    }
    let after = ProcessUsage.endedChildrenCPUMicroseconds
    let text = await child.standardOutput?.rest(timeoutMs: BenchLimits.stopMsMax) ?? ""
    guard exit == .code(0), let report = H2LoadReport(text) else {
      throw BenchError("h2load ended with \(exit) and said: \(text)")
    }
    guard report.succeeded == requests else {
      throw BenchError(
        "h2load had \(Figure.grouped(requests)) requests to send, and the simulator accepted "
          + Figure.grouped(report.succeeded))
    }
    return (after - before, report)
  }
}
