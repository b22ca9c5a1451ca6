import LocalServices

extension PushStage {
  /// Runs a command of an operator.
  func pushpool(
    _ arguments: String...
  ) async throws -> (exit: ChildProcess.Exit?, output: String, error: String) {
    try await pushpool(arguments)
  }

  func pushpool(
    _ arguments: [String]
  ) async throws -> (exit: ChildProcess.Exit?, output: String, error: String) {
    await end(of: try start(arguments))
  }

  /// Starts one that goes on until something happens.
  func start(_ arguments: String...) throws -> ChildProcess { try start(arguments) }

  private func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(
      Self.programFolder + "/pushpool", arguments + ["--redis", redis.url], folder: "/",
      output: .pipe, error: .pipe)
  }

  /// Waits for its end. What was read of its output before is not in the result.
  func end(
    of command: ChildProcess
  ) async -> (exit: ChildProcess.Exit?, output: String, error: String) {
    let exit = await command.waitForExit(timeoutMs: 60_000)
    return (
      exit, await command.standardOutput?.rest(timeoutMs: 60_000) ?? "",
      await command.standardError?.rest(timeoutMs: 60_000) ?? ""
    )
  }
}
