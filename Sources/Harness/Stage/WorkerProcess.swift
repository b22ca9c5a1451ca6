package import LocalServices

/// `pushpool worker` in a process of its own, so that its CPU and memory are nobody else's.
package final class WorkerProcess: Sendable {
  package let child: ChildProcess

  /// - Parameters:
  ///   - program: the path of pushpool.
  ///   - tool: a command line that runs another, such as valgrind's.
  ///   - environment: all of it: the caller's PUSHPOOL_ variables would win over the file.
  ///   - log: a file for what it says on standard error; nil leaves it the caller's.
  ///   - healthFile: a file for probes; nil for none.
  package init(
    program: String, configurationFile: String, under tool: [String] = [],
    environment: [String: String] = [:], log: String? = nil, healthFile: String? = nil
  ) throws(LocalServiceError) {
    var command = tool + [program, "worker", "--config", configurationFile]
    if let healthFile { command += ["--health-file", healthFile] }
    child = try ChildProcess(
      command[0], Array(command.dropFirst()), environment: environment, output: .discard,
      error: log.map { .file($0) } ?? .inherit)
  }

  package var pid: CInt { child.pid }

  /// - Throws: when it has ended.
  package func usage() throws(LocalServiceError) -> ProcessUsage {
    if let exit = child.exit { throw LocalServiceError("the worker ended by itself: \(exit)") }
    return try ProcessUsage(pid: child.pid)
  }

  /// Ends it in order, and by force when that takes longer.
  @discardableResult
  package func stop(graceMs: UInt64? = nil) async -> ChildProcess.Exit? {
    await child.terminate(graceMs: graceMs ?? StageLimits.stopMsMax)
  }
}
