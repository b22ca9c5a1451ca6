internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis

/// Reads the fleet for the feed, and remembers what makes a course of single looks: the pace of jobs, and the last hour.
actor FleetReader: FleetSource {
  private let services: Services
  private var history = MinuteHistory()
  private var paces = PaceHistory()

  init(_ services: Services) { self.services = services }

  func look() async throws(Problem) -> FeedReading {
    let knownMs = history.lastMs
    let look = try await services.operate { (stores) async throws(OperationError) in
      do throws(RedisError) {
        return try await FleetLook.read(stores, minutesAfter: knownMs)
      } catch { throw .redis(error) }
    }
    history.add(look.minutes)
    paces.add(look.jobs.open, ended: look.jobs.ended, nowMs: look.jobsMs)
    let sections = FleetSections(look: look) { [paces] job in
      paces.series(app: job.app, id: job.id)?.perSecond
    }
    var all = sections.all(accepting: services.configuration.redis.acceptedRisks)
    all[.history] = history.json
    let rates = try await services.appRates()
    all[.rates] = FleetSections.rates(rates.apps, others: rates.others)
    return FeedReading(nowMs: look.fleet.nowMs, sections: all)
  }

  func pace(app: String, id: String) -> PaceSeries? { paces.series(app: app, id: id) }
}
