import LocalServices

/// One worker in a process of its own, so that its CPU and memory are nobody else's.
final class WorkerProcess: Sendable {
  private let child: ChildProcess

  /// - Parameter tool: a command line that runs another, such as valgrind's.
  init(program: String, configurationFile: String, under tool: [String] = []) throws {
    let command = tool + [program, "worker", "--config", configurationFile]
    // Without the caller's environment, whose PUSHPOOL_ variables would win over the file.
    child = try ChildProcess(command[0], Array(command.dropFirst()), environment: [:])
  }

  var pid: CInt { child.pid }

  func usage() throws(BenchError) -> ProcessUsage {
    if let exit = child.exit { throw BenchError("the worker ended by itself: \(exit)") }
    return try ProcessUsage(pid: child.pid)
  }

  func stop(graceMs: UInt64 = BenchLimits.stopMsMax) async {
    await child.terminate(graceMs: graceMs)
  }
}
