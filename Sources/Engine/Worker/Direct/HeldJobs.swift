internal import Model
internal import Store

/// Jobs that a lane is about to send from their entries: their names are asked for while the next ones are taken in;
/// loop-bound.
struct HeldJobs {
  typealias Batch = [(job: PreparedJob, direct: DirectJob)]

  /// By `JobEntry.source`.
  private var jobs: [String: DirectJob] = [:]
  /// The jobs' users, by rank.
  private var users = [Int](repeating: 0, count: PushQueue.ranks)
  /// The batches that nobody asks for yet.
  private var batches: [Batch] = []

  var count: Int { jobs.count }
  var entries: [JobEntry] { jobs.values.map(\.entry) }

  /// How many users the jobs of a priority and higher ones are to.
  func users(upTo priority: Priority) -> Int { users[...priority.rank].reduce(0, +) }

  func count(of app: String) -> Int { jobs.values.count { $0.admission.app == app } }

  /// Whether the job of this entry is among them.
  func has(_ entry: JobEntry) -> Bool { jobs[entry.source]?.entry.text == entry.text }

  mutating func add(_ batch: Batch) {
    for (job, direct) in batch {
      jobs[direct.entry.source] = direct
      users[direct.entry.priority.rank] += job.recipients
    }
    batches.append(batch)
  }

  mutating func nextBatch() -> Batch? { batches.isEmpty ? nil : batches.removeFirst() }

  /// The jobs of a batch have begun, or have not.
  mutating func remove(_ batch: Batch) {
    for (job, direct) in batch {
      if jobs[direct.entry.source] === direct { jobs[direct.entry.source] = nil }
      users[direct.entry.priority.rank] -= job.recipients
    }
  }
}
