internal import ServiceLifecycle

/// The end of streams when the process ends.
enum StreamEnd {
  /// Runs the body, and cancels it when the server stops.
  static func whenStopping(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await cancelWhenGracefulShutdown(body)
  }
}
