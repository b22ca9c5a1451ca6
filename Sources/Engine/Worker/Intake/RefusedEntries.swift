internal import Model
internal import Redis
internal import Store

/// Of jobs that are taken in together those that Redis refuses, such as one under whose key another program keeps something.
/// They keep no other from being taken in: what they came to is told when all have had their turn.
struct RefusedEntries {
  private(set) var first: (entry: JobEntry, error: RedisError)?

  /// - Throws: what speaks of Redis and not of the job.
  mutating func note(_ error: RedisError, _ entry: JobEntry) throws(RedisError) {
    guard !error.isTemporary else { throw error }
    if first == nil { first = (entry, error) }
  }

  /// - Throws: what the first of them came to.
  func conclude(_ reasons: ReasonLog) throws(RedisError) {
    guard let first else { return }
    let entry = first.entry
    reasons.note(
      first.error,
      during: "taking in the entry \(entry.entry) of the \(entry.priority.rawValue) jobs")
    throw first.error
  }
}
