import LocalServices
import Model
import Providers
import Typesetting

/// h2load, the load tool of nghttp2's authors, against the same simulator.
///
/// It keeps no queue and reads no answers' bodies for their meaning: what it needs for a request is what
/// sending alone costs.
struct Yardstick {
  struct Measurement: Sendable {
    var cpuMicrosecondsPerRequest: Double
    var requestsPerSecond: Double
  }

  private let stage: BenchStage
  /// h2load sends to one network at a time: one command line each.
  private let commands: [[String]]

  init(stage: BenchStage, population: Population, message: Message) async throws {
    self.stage = stage
    let requests = try await stage.yardstickRequests(population, message: message)
    let lanes = stage.settings.lanes
    commands = try requests.enumerated().map { index, request in
      let uriFile = stage.folder.file("uris-\(index)")
      let bodyFile = stage.folder.file("body-\(index)")
      try PrivateFile.write(request.uris, to: uriFile)
      try PrivateFile.write(request.body, to: bodyFile)
      return [
        "--clients=\(BenchLimits.connections * lanes)", "--threads=\(lanes)",
        "--max-concurrent-streams=\(BenchLimits.streams)",
        "--connect-to=127.0.0.1:\(stage.simulatorPort)", "--input-file=\(uriFile)",
        "--data=\(bodyFile)",
      ] + request.headers.map { "--header=\($0)" }
    }
  }

  /// Sends that many requests, as many to each network. What h2load needs to start and to read the
  /// URIs is taken off.
  func measure(requests: Int) async throws -> Measurement {
    let atStart = BenchLimits.connections * stage.settings.lanes
    let each = max(requests / commands.count, atStart + 1)
    var cpuMicroseconds = 0.0
    var seconds = 0.0
    for command in commands {
      let start = try await run(command, requests: atStart)
      let whole = try await run(command, requests: each)
      cpuMicroseconds +=
        (whole.cpuMicroseconds - start.cpuMicroseconds) / Double(each - atStart)
      seconds += 1 / whole.report.requestsPerSecond
    }
    let count = Double(commands.count)
    return Measurement(
      cpuMicrosecondsPerRequest: cpuMicroseconds / count, requestsPerSecond: count / seconds)
  }

  private func run(
    _ command: [String], requests: Int
  ) async throws -> (cpuMicroseconds: Double, report: H2LoadReport) {
    // Nothing else that this process started ends meanwhile.
    let before = ProcessUsage.endedChildrenCPUMicroseconds
    let child = try ChildProcess(
      stage.programs.h2load, command + ["--requests=\(requests)"], output: .pipe)
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
        "h2load had \(FigureText.count(requests)) requests to send, and the simulator accepted "
          + FigureText.count(report.succeeded))
    }
    return (after - before, report)
  }
}

/// The request that h2load sends: the worker's own request as it was rendered, to as many device tokens.
struct YardstickRequest: Sendable {
  /// `name: value`
  let headers: [String]
  let body: [UInt8]
  /// One URI a line, distinct where the network names the device in the path.
  let uris: [UInt8]

  /// The id of a request that has one. It need not change: whether a request is new is nothing to who sends it.
  private static let id = "00000000-0000-8000-a000-000000000000"

  /// - Parameter pushes: how many a request carries, where it carries several.
  init(
    authority: String, headers: [String], rendered: RenderedPush, tokens: [String], pushes: Int
  ) {
    self.headers = headers
    body = rendered.body(to: Array(tokens.prefix(pushes)), id: Self.id)
    let paths =
      switch rendered.path {
      case .fixed(let path): [path]
      case .perToken: tokens.map { rendered.path(to: $0) }
      }
    uris = paths.flatMap { Array("https://\(authority)".utf8) + $0 + Array("\n".utf8) }
  }
}
