internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

/// The routes that show the fleet as a whole.
package enum FleetRoutes {
  package static let all = [fleet, outcomes, timeline]

  static let group = "fleet"
  static let lookers = APIRoute.Access.roles([.operatorLook])

  private static let fleet = APIRoute(
    .get, "/v1/fleet", lookers, isSearch: true,
    RouteDocument(
      group, "Show the state of the fleet",
      "Workers, backlog, switches, alarms, open breakers, rates and how Redis is set up, at one moment.",
      answers: [RouteDocument.Answer(200, "The fleet.", .json(FleetSchema.fleet))])
  ) { _, services throws(Problem) in
    let rates = ConfiguredRate.all(of: try await services.appRates().apps)
    let ((snapshot, draws), absences) = try await services.look { stores throws(RedisError) in
      (try await FleetSnapshot.read(stores), try await lastDraws(rates.map(\.name), in: stores))
    }
    guard
      case .object(var object) = snapshot.json(
        accepting: AcceptedRisks(services.configuration.shards), without: absences)
    else { throw Problem(500, "internal error", "the snapshot is no object") }
    object["breakers"] = .array(snapshot.alarms.compactMap(breaker))
    object["rates"] = .array(zip(rates, draws).map { rate, drawnMs in rate.json(drawnMs) })
    return .ok(.object(object)).without(absences)
  }

  /// Returns when each rate was drawn from last. Most stand beside their app, and those at home that apps of several shards share.
  private static func lastDraws(
    _ names: [String], in stores: [ShardStore]
  ) async throws(RedisError) -> [Int64?] {
    var draws: [Int64?] = names.map { _ in nil }
    for store in stores {
      let rates = FleetStore(connection: store.connection, prefix: store.keys.prefix).rates
      draws = zip(draws, try await rates.lastDraws(names)).map { last, ms in
        [last, ms].compactMap(\.self).max()
      }
    }
    return draws
  }

  /// An alarm of a network's breaker, with the parts of its name; nil for another alarm.
  private static func breaker(_ alarm: Alarm) -> JSONValue? {
    let parts = alarm.field.split(separator: "|", omittingEmptySubsequences: false)
      .map(String.init)
    guard AlarmKind(field: alarm.field) == .breaker, parts.count == 4 else { return nil }
    return [
      "app": .string(parts[1]), "network": .string(parts[2]), "environment": .string(parts[3]),
      "since": .integer(alarm.atMs), "message": .string(alarm.sentence),
    ]
  }

  // MARK: Charts

  private static let minutes = RouteDocument.QueryField(
    "minutes",
    "Over how many minutes; \(ServerLimits.chartMinutesUsual) when it is left out.",
    Schema.integer(in: 1...ServerLimits.chartMinutesMax))

  private static let outcomes = APIRoute(
    .get, "/v1/metrics/outcomes", lookers, isSearch: true,
    RouteDocument(
      group, "Chart the outcomes and the answer times by the minute",
      "The last minute of the chart is the one that runs. Answer times are upper bounds, of the networks' answers of all apps.",
      query: [
        minutes,
        RouteDocument.QueryField(
          "app", "Only this app's outcomes.", Schema.string(bytesMax: Limits.appBytesMax)),
      ],
      answers: [RouteDocument.Answer(200, "The chart.", .json(FleetSchema.outcomes))])
  ) { request, services throws(Problem) in
    let count = try minutes(request)
    let app = try request.queryValue("app")
    if let app {
      do throws(InvalidField) { try TextRule.checkApp(app) } catch {
        throw .badRequest("app of the query \(error.message)")
      }
    }
    let (chart, absences) = try await services.look(of: app) { stores throws(RedisError) in
      try await OutcomeChart.read(minutes: count, app: app, in: stores).json
    }
    return .ok(chart).without(absences)
  }

  private static let timeline = APIRoute(
    .get, "/v1/timeline", lookers, isSearch: true,
    RouteDocument(
      group, "Chart the backlog",
      "The entries that workers add each 10 s, the oldest first. Of more than \(ServerLimits.timelinePointsMax) some are left "
        + "out evenly. Several workers add one each; in_flight and accepted_per_second are the worker's own.",
      query: [minutes],
      answers: [RouteDocument.Answer(200, "The timeline.", .json(FleetSchema.timeline))])
  ) { request, services throws(Problem) in
    let count = try minutes(request)
    let (entries, absences) = try await services.look { stores throws(RedisError) in
      try await TimelineChart.read(minutes: count, in: stores)
    }
    return .ok(["entries": .array(entries.map(TimelineChart.json))]).without(absences)
  }

  private static func minutes(_ request: APIRequest) throws(Problem) -> Int {
    try request.queryInteger(
      "minutes", in: 1...ServerLimits.chartMinutesMax, default: ServerLimits.chartMinutesUsual)
  }
}

/// The rate of an app as a whole, where the configuration or the app's record in Redis sets one.
struct ConfiguredRate: Sendable {
  let app: String
  let perSecond: Int

  /// The name of its bucket.
  var name: String { "app:\(app)" }

  static func all(of apps: [AppRates]) -> [ConfiguredRate] {
    apps.lazy.compactMap { app in
      app.pushesPerSecond.map { ConfiguredRate(app: app.app, perSecond: $0) }
    }.prefix(ServerLimits.toldRatesMax).map(\.self)
  }

  /// - Parameter drawnMs: when lanes drew from it last.
  func json(_ drawnMs: Int64?) -> JSONValue {
    [
      "app": .string(app), "per_second": .integer(perSecond),
      "drawn_at": drawnMs.map { .integer($0) } ?? .null,
    ]
  }
}
