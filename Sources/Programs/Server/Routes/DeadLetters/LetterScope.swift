internal import Model
internal import Operations
internal import Redis
internal import Store

/// The dead letters that a path is for: those of one app, or all of them.
enum LetterScope: Sendable {
  case app
  /// Also those of jobs that could not be read, which name no app.
  case fleet

  /// The pattern of a route, behind the place of the letters.
  func pattern(_ rest: String) -> PathPattern {
    switch self {
    case .app: PathPattern(stringLiteral: "/v1/apps/{app}/dead-letters\(rest)")
    case .fleet: PathPattern(stringLiteral: "/v1/dead-letters\(rest)")
    }
  }

  /// The app of a request's path; nil where it has none.
  func app(_ request: APIRequest) throws(Problem) -> String? {
    switch self {
    case .app: try AppPath(request).app
    case .fleet: nil
    }
  }

  func path(_ app: String?) -> ResourcePath {
    if let app { return ResourcePath("v1", "apps", app, "dead-letters") }
    return ResourcePath("v1", "dead-letters")
  }
}

/// Which of the letters are meant.
struct LetterFilter: Sendable {
  /// Nil for all apps; empty for letters that name none.
  var app: String?
  var reason: String?
  /// `job` or `chunk`.
  var kind: String?

  static let kinds = ["job", "chunk"]

  func admits(_ letter: DeadLetter) -> Bool {
    Self.isSame(app, letter.app) && Self.isSame(reason, letter.reason)
      && Self.isSame(kind, letter.kind)
  }

  private static func isSame(_ wanted: String?, _ found: String) -> Bool {
    wanted.map { TextRule.isSame($0, found) } ?? true
  }

  /// Says what it leaves in, for the audit stream.
  var text: String {
    [("app", app), ("reason", reason), ("kind", kind)]
      .compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: " ")
  }

  // MARK: From a request

  /// - Parameter scope: that of the path; where it is all apps, the query may name one.
  init(query request: APIRequest, _ scope: LetterScope) throws(Problem) {
    app = try scope.app(request)
    if case .fleet = scope { app = try request.queryValue("app") }
    reason = try request.queryValue("reason")
    kind = try request.queryValue("kind")
    for text in [app, reason].compactMap(\.self)
    where text.utf8.count > ServerLimits.reasonBytesMax {
      throw .badRequest(
        "app and reason of the query have at most \(ServerLimits.reasonBytesMax) bytes")
    }
    if let kind, !Self.kinds.contains(kind) {
      throw .badRequest("kind of the query must be job or chunk")
    }
  }

  init(body fields: RequestFields, _ request: APIRequest, _ scope: LetterScope) throws(Problem) {
    app = try scope.app(request)
    if case .fleet = scope {
      app = try fields.string("app", bytesMax: ServerLimits.reasonBytesMax)
    }
    reason = try fields.string("reason", bytesMax: ServerLimits.reasonBytesMax)
    kind = try fields.string("kind", bytesMax: ServerLimits.reasonBytesMax)
    if let kind, !Self.kinds.contains(kind) {
      throw fields.refused("kind", "must be job or chunk")
    }
  }

  static func members(_ scope: LetterScope) -> [String] {
    switch scope {
    case .app: ["reason", "kind"]
    case .fleet: ["app", "reason", "kind"]
    }
  }

  static func queryFields(_ scope: LetterScope) -> [RouteDocument.QueryField] {
    let reason = Schema.string(bytesMax: ServerLimits.reasonBytesMax)
    let app = RouteDocument.QueryField(
      "app", "Only letters of this app; empty for those that name none.", reason)
    let own = [
      RouteDocument.QueryField("reason", "Only letters of this reason.", reason),
      RouteDocument.QueryField(
        "kind", "job: refused as a whole; chunk: recipients of a job that was taken in.",
        Schema.choice(kinds)),
    ]
    switch scope {
    case .app: return own
    case .fleet: return [app] + own
    }
  }
}

/// The name of a dead letter: the entry of a stream, `<ms>-<n>`, with its shard in front where the fleet has several.
struct LetterEntry: Sendable {
  let name: ShardEntry

  /// - Throws: the rule that the text breaks, as what it must be or do.
  init(_ text: String, of shards: [ShardID]) throws(InvalidField) {
    guard ShardEntry.isOne(text) else { throw Self.noEntry }
    name = try ShardEntry(text, of: shards)
    // No entry has the first id of all.
    guard name.id.previous != nil else { throw Self.noEntry }
  }

  private static let noEntry = InvalidField(
    pointer: "", message: "must be the entry of a dead letter, such as 1790000000000-0")

  /// - Throws: 422 for what is no letter's name.
  init(_ request: APIRequest, _ services: Services) throws(Problem) {
    do throws(InvalidField) {
      self = try LetterEntry(request.parameter("entry"), of: services.session.shards)
    } catch { throw PathValue.refused("entry", error) }
  }

  var text: String { name.text }

  /// The letter without its original, which may be large.
  /// - Returns: nil when there is none, or it is not the app's.
  /// - Parameter app: nil for any app.
  func letter(app: String?, in stores: [ShardStore]) async throws(RedisError) -> DeadLetter? {
    guard let found = try await DeadLetterOffice(stores: stores).glance(name),
      app.map({ TextRule.isSame($0, found.app) }) ?? true
    else { return nil }
    return found
  }

  var absence: Problem {
    .notFound("there is no dead letter \(text): it was retried or dropped, or is another app's")
  }
}
