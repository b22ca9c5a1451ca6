internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

/// Reads the fleet for the feed, and remembers what makes a course of single looks: the pace of jobs, and the last hour.
actor FleetReader: FleetSource {
  private let services: Services
  private var history = MinuteHistory()
  private var paces = PaceHistory()
  /// Since when each shard is away, by the clock of the others.
  private var absentSinceMs: [ShardID: Int64] = [:]

  init(_ services: Services) { self.services = services }

  func look() async throws(Problem) -> FeedReading {
    let knownMs = history.lastMs
    let (look, absences) = try await services.look { stores throws(RedisError) in
      try await FleetLook.read(stores, minutesAfter: knownMs)
    }
    history.add(look.minutes)
    paces.add(look.jobs.open, ended: look.jobs.ended, nowMs: look.jobsMs)
    let nowMs = look.fleet.nowMs
    absentSinceMs = Dictionary(
      absences.map { ($0.shard, absentSinceMs[$0.shard] ?? nowMs) },
      uniquingKeysWith: { one, _ in one })
    let sections = FleetSections(
      look: look,
      absences: absences.map { absence in
        Alarm(
          ofAbsentShard: absence.shard.name, sinceMs: absentSinceMs[absence.shard] ?? nowMs,
          message: absence.failure.description)
      }
    ) { [paces] job in
      paces.series(app: job.app, id: job.id)?.perSecond
    }
    var all = sections.all(accepting: AcceptedRisks(services.configuration.shards))
    all[.history] = history.json
    let rates = try await services.appRates()
    all[.rates] = FleetSections.rates(rates.apps, others: rates.others)
    return FeedReading(nowMs: look.fleet.nowMs, sections: all)
  }

  func pace(app: String, id: String) -> PaceSeries? { paces.series(app: app, id: id) }
}
