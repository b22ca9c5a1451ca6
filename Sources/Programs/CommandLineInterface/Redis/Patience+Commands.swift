internal import Operations

extension Patience {
  /// Returns the patience of a person who waits at a terminal.
  /// - Parameter goesOn: unless it is until a signal comes.
  static func ofCommands(
    _ goesOn: @escaping () -> Bool = { !Interrupts.shared.hasCome }
  ) -> Patience {
    Patience(
      attemptsMax: CommandLineLimits.redisAttemptsMax, retryMs: CommandLineLimits.redisRetryMs,
      reconnectTimeoutMs: CommandLineLimits.redisReconnectTimeoutMs, goesOn: goesOn)
  }
}
