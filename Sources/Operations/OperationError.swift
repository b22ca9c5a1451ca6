package import Model
package import Redis

/// Why an operation came to no end.
package enum OperationError: Error, Equatable {
  /// A store refused, or was away for longer than the caller's patience.
  case redis(RedisError)
  /// The caller wanted it to end.
  case stopped
  /// The caller wanted it to end before the job was found among those that wait.
  case notFoundYet(job: String)
  /// Neither has the job a record, nor does it wait for a worker.
  case unknownJob(app: String, job: String)
  /// The job waits for a worker, who will refuse it by this rule: there is nothing to stop or to let go on.
  case doomedJob(job: String, fault: InvalidField)
  /// The job cannot start at another time, or not at that one.
  case unmovedJob(job: String, RescheduleRefusal)
}
