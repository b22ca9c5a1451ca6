internal import Dispatch

/// Deals with large bodies one at a time, on a thread of its own: to read one of 16 MB takes a good part of a second, in which
/// the threads of all other requests stay free.
final class LargeBodies: TaskExecutor {
  private let queue = DispatchQueue(label: "large bodies")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
