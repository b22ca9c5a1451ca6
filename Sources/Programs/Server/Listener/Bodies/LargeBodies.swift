internal import Dispatch

/// Deals with large bodies one at a time, on a thread of its own: to read one of 16 MB takes a good part of a second, in which
/// the threads of all other requests stay free.
final class LargeBodies: TaskExecutor {
  private let queue = DispatchQueue(label: "large bodies")

  /// Deals with a body: with a large one here, and with others where the caller is.
  func deal<Value: Sendable>(
    withBytes count: Int, _ body: @Sendable () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    guard count > ServerLimits.smallBodyBytesMax else { return try await body() }
    return try await withTaskExecutorPreference(self) { () async throws(Problem) in
      try await body()
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
