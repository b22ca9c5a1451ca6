package import Reactor

/// A loop with its thread and an actor that lives on it: tests make loop-bound objects within `run`.
package actor TestLane {
  package nonisolated let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  package init() throws {
    loop = try EventLoop(name: "test")
    try loop.start()
  }

  deinit { loop.stop() }

  package func run<Value: Sendable>(
    _ body: @Sendable (isolated TestLane) async throws -> Value
  ) async rethrows -> Value {
    // As lanes run: what the loop resumes goes on in the same turn, not by way of another thread.
    try await withTaskExecutorPreference(loop) { try await body(self) }
  }

  /// Makes a loop and runs the body on it.
  package static func run<Value: Sendable>(
    _ body: @Sendable (isolated TestLane) async throws -> Value
  ) async throws -> Value {
    let lane = try TestLane()
    return try await lane.run(body)
  }
}
