internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// A page of the list of jobs: those that are open, and behind them those that ended last.
enum JobPage {
  private static let cursors = ListCursor.List(name: "jobs1", valuesMax: 4)

  /// Which jobs are listed.
  private enum Filter {
    case all, open, ended
    case state(JobState)

    /// The words of the query. A refused job is a dead letter, and in no list of jobs.
    static let words =
      ["open", "ended"] + JobState.allCases.filter { $0 != .refused }.map(\.rawValue)

    init?(_ word: String) {
      switch word {
      case "open": self = .open
      case "ended": self = .ended
      default:
        guard let state = JobState(rawValue: word), state != .refused else { return nil }
        self = .state(state)
      }
    }

    func admits(_ state: JobState) -> Bool {
      switch self {
      case .all: true
      case .open: !state.isFinal
      case .ended: state.isFinal
      case .state(let wanted): wanted == state
      }
    }

    var needsEnded: Bool {
      switch self {
      case .all, .ended: true
      case .open: false
      case .state(let state): state.isFinal
      }
    }
  }

  static func document(_ summary: String) -> RouteDocument {
    RouteDocument(
      JobRoutes.group, summary,
      "Those that run come first, then queued, paused and scheduled ones, then those that ended last. At most "
        + "\(OperationsLimits.listedJobsMax) open and as many ended jobs are listed, those of one app among the last \(StoreLimits.endedLookedMax) that ended of all. Jobs that no worker has taken in yet "
        + "are not, and refused ones are dead letters.",
      query: [
        RouteDocument.QueryField(
          "state", "Only jobs in this state; open and ended stand for several.",
          Schema.choice(Filter.words))
      ] + ListPage.fields,
      answers: [
        RouteDocument.Answer(
          200, "A page of jobs; the Link header leads to the next one.",
          .json(
            Schema.object(
              [("jobs", Schema.array(of: JobSchema.record)), ListPage.next],
              required: ["jobs", "next"], closed: true)))
      ])
  }

  /// - Parameters:
  ///   - app: nil for the jobs of all apps.
  ///   - path: of the list.
  static func response(
    _ request: APIRequest, _ services: Services, app: String?, path: ResourcePath
  ) async throws(Problem) -> APIResponse {
    let page = try ListPage(request, of: cursors)
    let word = try request.queryValue("state")
    let filter = try filter(word)
    let after = try page.cursor.map { (cursor) throws(Problem) in try JobPlace(cursor.values) }
    let endedMax = filter.needsEnded ? OperationsLimits.listedJobsMax : 0
    let (list, absences) = try await services.look(of: app) { stores throws(RedisError) in
      try await JobList.read(stores, app: app, endedMax: endedMax)
    }
    // A job that ends while it is looked for is in both lists.
    var known: Set<String> = []
    var all: [(place: JobPlace, record: JobRecord)] = []
    for record in list.open + (filter.needsEnded ? list.ended : []) {
      let place = JobPlace(record)
      guard filter.admits(record.state), known.insert("\(record.app)\n\(record.id)").inserted,
        after.map({ $0 < place }) ?? true
      else { continue }
      all.append((place, record))
    }
    all.sort { $0.place < $1.place }
    let shown = all.prefix(page.limit)
    let nowMs = InstantText.nowMs()
    return page.response(
      ["jobs": .array(shown.map { $0.record.json(nowMs: nowMs) })],
      next: all.count > shown.count
        ? shown.last.map { ListCursor(cursors, $0.place.values) } : nil,
      path: path, query: [(name: "state", value: word)]
    ).without(absences)
  }

  private static func filter(_ word: String?) throws(Problem) -> Filter {
    guard let word else { return .all }
    guard let filter = Filter(word) else {
      throw .badRequest(
        "state of the query must be one of \(Filter.words.joined(separator: ", "))")
    }
    return filter
  }
}

/// Where a job stands in the list: a job that goes on stays there while its state does.
struct JobPlace: Comparable {
  private let rank: Int64
  /// When it began; of one that has ended, when it did, the last first.
  private let order: Int64
  private let app: String
  private let id: String

  init(_ record: JobRecord) {
    rank = Int64(record.listRank)
    order = record.state.isFinal ? -(record.finishedAtMs ?? 0) : record.beginsAtMs
    app = record.app
    id = record.id
  }

  /// From the values of a cursor.
  init(_ values: [JSONValue]) throws(Problem) {
    guard values.count == 4, let rank = values[0].int64Value, let order = values[1].int64Value,
      let app = values[2].stringValue, let id = values[3].stringValue
    else { throw ListCursor.unreadable }
    self.rank = rank
    self.order = order
    self.app = app
    self.id = id
  }

  var values: [JSONValue] {
    [.integer(rank), .integer(order), .string(app), .string(id)]
  }

  static func < (one: JobPlace, other: JobPlace) -> Bool {
    guard (one.rank, one.order) == (other.rank, other.order) else {
      return (one.rank, one.order) < (other.rank, other.order)
    }
    guard TextRule.isSame(one.app, other.app) else {
      return TextRule.precedes(one.app, other.app)
    }
    return TextRule.precedes(one.id, other.id)
  }
}
