package import Redis

/// Passes through the open jobs, some at a time, time and again: each has its turn.
package struct OpenJobScan {
  private let jobs: JobQueue
  private var cursor = "0"
  /// Jobs of the last part that have not had their turn yet.
  private var left: ArraySlice<(app: String, id: String)> = []

  package init(jobs: JobQueue) { self.jobs = jobs }

  /// - Returns: at most `max`; fewer at the end of a part.
  package mutating func next(_ max: Int) async throws(RedisError) -> [(app: String, id: String)] {
    if left.isEmpty {
      let part = try await jobs.openJobs(cursor: cursor)
      cursor = part.cursor
      left = part.jobs[...]
    }
    defer { left = left.dropFirst(max) }
    return Array(left.prefix(max))
  }
}
