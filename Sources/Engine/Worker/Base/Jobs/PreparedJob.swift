private import CLinux
internal import Model
internal import Store

/// A producer's job, checked and cut up for the store. A class, for it goes through many hands.
final class PreparedJob: Sendable {
  /// Nil where the producer gave none.
  let id: String?
  let app: String
  let content: JobContent
  /// The digest of the canonical job.
  let digest: String
  let lines: ChunkLines
  /// 0 when the users are in a key or an index.
  let recipients: Int
  /// How many its list has; nil when the users are in a key or an index.
  var receivers: Int? { usersKey == nil && index == nil ? recipients : nil }
  let usersKey: String?
  let index: AudienceIndex?
  let segments: [[UInt8]]
  let deliverAtMs: Int64?
  let livesSeconds: Int?
  let deliverLocal: LocalDelivery?
  let pace: JobPace?
  /// How long its record is kept; nil for what the configuration says.
  let retentionSeconds: Int?

  init(_ text: [UInt8]) throws(RefusedJob) {
    let job: Job
    do throws(InvalidField) { job = try Job(bytes: text) } catch {
      throw RefusedJob(error, text)
    }
    id = job.id
    app = job.app
    content = job.content
    digest = ContentDigest.of(job)
    lines = job.audience.chunkLines
    recipients = job.audience.count ?? 0
    if case .usersKey(let key) = job.audience { usersKey = key } else { usersKey = nil }
    index = job.audience.index
    segments = job.audience.segments()
    deliverAtMs = job.deliverAtMs
    livesSeconds = job.livesSeconds
    deliverLocal = job.deliverLocal
    pace = job.pace
    retentionSeconds = job.retentionSeconds
  }

  /// Makes the same job, which starts when this schedule says.
  init(_ job: PreparedJob, keepingTo schedule: LocalSchedule) {
    id = job.id
    app = job.app
    var content = job.content
    content.schedule = schedule
    self.content = content
    digest = job.digest
    lines = job.lines
    recipients = job.recipients
    usersKey = job.usersKey
    index = job.index
    segments = job.segments
    deliverAtMs = schedule.rounds.first?.atMs
    livesSeconds = nil
    deliverLocal = job.deliverLocal
    pace = job.pace
    retentionSeconds = job.retentionSeconds
  }

  /// Prepares a job on a thread of its own: a million users take a third of a second, for which no push would leave the
  /// lane.
  static func beside(_ text: [UInt8]) async throws(RefusedJob) -> PreparedJob {
    // Detached, since other tasks prefer the lane's thread.
    try await Task.detached {
      Result { () throws(RefusedJob) in try PreparedJob(text) }
    }.value.get()
  }

  /// Gives the system back what is free in all heaps: what `beside` has left stays in that thread's own otherwise.
  static func returnMemory() async {
    _ = await Task.detached { malloc_trim(0) }.value
  }
}
