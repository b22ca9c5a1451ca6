import LocalServices

/// One worker with one lane in a process of its own, so that its CPU and memory are nobody else's.
final class WorkerProcess: Sendable {
  private let child: ChildProcess

  init(program: String, configurationFile: String) throws {
    // Without the caller's environment, whose PUSHPOOL_ variables would win over the file.
    child = try ChildProcess(program, ["worker", "--config", configurationFile], environment: [:])
  }

  var pid: CInt { child.pid }

  func usage() throws(BenchError) -> ProcessUsage {
    if let exit = child.exit { throw BenchError("the worker ended by itself: \(exit)") }
    return try ProcessUsage(pid: child.pid)
  }

  func stop() async {
    await child.terminate(graceMs: BenchLimits.stopMsMax)
  }
}
