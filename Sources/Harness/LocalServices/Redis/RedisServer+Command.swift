extension RedisServer {
  /// How long a command's answer is waited for. It takes some 10 ms unless the machine is busy.
  static let commandMsMax: UInt64 = 60_000

  /// Runs a command, word by word.
  @discardableResult
  package nonisolated func command(_ words: String...) async throws -> String {
    try await command(words)
  }

  /// Runs a command as another program's client.
  /// - Returns: what redis-cli prints of the reply; nothing where the server does not answer.
  @discardableResult
  package nonisolated func command(_ words: [String]) async throws -> String {
    let child = try ChildProcess(
      "redis-cli", ["-s", socketPath] + words, output: .pipe, error: .discard)
    _ = await child.waitForExit(timeoutMs: Self.commandMsMax)
    return await child.standardOutput?.rest(timeoutMs: Self.commandMsMax) ?? ""
  }
}
