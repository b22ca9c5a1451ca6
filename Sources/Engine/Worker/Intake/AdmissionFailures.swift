internal import Logging
internal import Model
internal import Redis
internal import Store

/// The jobs that Redis refuses among those that are taken in together, such as one under whose key another program
/// keeps something. They keep no other from being taken in.
struct AdmissionFailures {
  private var refused: [(entry: JobEntry, error: RedisError)] = []

  var first: RedisError? { refused.first?.error }

  /// - Throws: what speaks of Redis and not of the job.
  mutating func note(_ error: RedisError, _ entry: JobEntry) throws(RedisError) {
    guard !error.isPassing else { throw error }
    refused.append((entry, error))
  }

  /// Tells the log, when all of the jobs have had their turn. It names one of them: each is no reason of its own.
  /// - Parameter total: how many jobs there were.
  /// - Throws: what the first came to, when all were refused: then it may be Redis after all.
  func conclude(of total: Int, _ reasons: ReasonLog) throws(RedisError) {
    for (entry, error) in refused {
      reasons.note(
        error, during: "taking a job in",
        metadata: ["entry": "\(entry.entry)", "priority": "\(entry.priority.rawValue)"])
    }
    if let first, refused.count == total { throw first }
  }
}
