internal import Logging
internal import Model
internal import Redis
internal import Store

/// Warns before the records of ended jobs fill Redis, by how many jobs have ended in a day and for how long those that ended
/// last are kept; loop-bound.
final class RecordOutlook {
  private let store: ShardStore
  private var retention: RetentionRules
  private let log: Logger
  /// The first count that it saw, for as long as the timeline tells of none before.
  private var first: EndedJobs?
  /// How long a record is kept, in the mean of the last looks.
  private var secondsKept: Double?
  private(set) var alarmConditions: [AlarmCondition] = []

  init(store: ShardStore, retention: RetentionRules, log: Logger) {
    self.store = store
    self.retention = retention
    self.log = log
  }

  /// Goes by these rules from now on.
  func use(_ retention: RetentionRules) { self.retention = retention }

  /// How much a look changes the mean: an hour's looks count.
  private static let weight = 1.0 / 60

  func look(_ settings: RedisSettings) async throws(RedisError) {
    let nowMs = try await store.serverSeconds() * 1_000
    let now = EndedJobs(count: try await store.metrics.endedCount(), atMs: nowMs)
    if first.map({ now.count < $0.count }) ?? true { first = now }
    let before = [try await store.metrics.endedADayAgo(nowMs: nowMs), first]
    let last = try await store.jobs.ended(max: WorkerLimits.endedLookedMax)
    guard !last.isEmpty else { return note(nil) }
    let kept = last.reduce(0.0) { $0 + Double(seconds($1)) } / Double(last.count)
    let mean = secondsKept.map { $0 + (kept - $0) * Self.weight } ?? kept
    secondsKept = mean
    guard let perSecond = before.lazy.compactMap({ $0?.perSecond(until: now) }).first else {
      return note(nil)
    }
    note(RecordForecast(jobsPerSecond: perSecond, secondsKept: mean, settings: settings).warning)
  }

  private func seconds(_ job: JobRecord) -> Int {
    retention[job.app].seconds(of: job, hasID: !JobSource.isName(job.id))
  }

  private func note(_ warning: String?) {
    if let warning, alarmConditions.isEmpty { log.warning("\(warning)") }
    alarmConditions =
      warning.map {
        [AlarmCondition(field: AlarmKind.recordMemory.field("redis"), sentence: $0)]
      } ?? []
  }
}
