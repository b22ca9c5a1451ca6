internal import Model
internal import Operations
internal import Redis
internal import Store

/// Retries or drops the dead letters of a filter, so many with a request.
struct LetterChange: Sendable {
  enum Verb: String, Sendable {
    case retry, drop
  }

  private let verb: Verb
  private let filter: LetterFilter
  private let after: LetterEntry?
  private let upTo: LetterEntry?
  private let expectedCount: Int
  /// The shard of the app that the path is for, or all.
  private let shards: ShardScope

  static let goneText =
    "cannot be retried: its entry had no job, or its job or what it is about is not kept any more"
  static let endingText =
    "cannot be retried yet: its job is cancelled and still ends; retry it when nothing of the job is pending"

  /// - Throws: 400 and 422 for a body that breaks a rule.
  private init(
    _ verb: Verb, _ request: APIRequest, _ scope: LetterScope, of shards: [ShardID]
  ) throws(Problem) {
    let fields = try RequestFields(
      request, known: LetterFilter.members(scope) + ["after", "up_to", "expected_count"])
    self.verb = verb
    self.shards = try scope.app(request).map { .app($0) } ?? .all
    filter = try LetterFilter(body: fields, request, scope)
    after = try Self.entry("after", fields, of: shards)
    upTo = try Self.entry("up_to", fields, of: shards)
    guard let count = try fields.integer("expected_count", in: 0...Int(Int32.max)) else {
      throw fields.refused(
        "expected_count", "is missing: give the count of the summary, which a person has seen")
    }
    expectedCount = count
  }

  private static func entry(
    _ name: String, _ fields: RequestFields, of shards: [ShardID]
  ) throws(Problem) -> LetterEntry? {
    guard let text = try fields.string(name, bytesMax: ServerLimits.reasonBytesMax) else {
      return nil
    }
    do throws(InvalidField) { return try LetterEntry(text, of: shards) } catch {
      throw fields.refused(name, error.message)
    }
  }

  // MARK: The work

  /// The letters of the filter, and what became of those that this request dealt with.
  private struct Tally: Sendable {
    var count = 0
    /// The letters to deal with.
    var letters: [ShardEntry] = []
    var changed = 0
    /// Somebody else has dealt with them meanwhile.
    var absent = 0
    var refused: [(letter: ShardEntry, reason: String)] = []
    /// The last letter that was dealt with.
    var last: ShardEntry?
    /// The last letter that was looked at to count them.
    var upTo: ShardEntry?

    var left: Int { count - changed - absent - refused.count }
  }

  private func run(
    _ services: Services
  ) async throws(Problem) -> Tally {
    let change = self
    let tally = try await services.ask(in: shards) { stores throws(RedisError) in
      try await change.count(in: stores)
    }
    guard tally.count == expectedCount else {
      var problem = Problem.conflict(
        "\(tally.count) dead letters are in the filter, and expected_count is \(expectedCount): nothing was "
          + "done; look at the summary again")
      problem.members = ["count": .integer(tally.count)]
      throw problem
    }
    return try await services.ask(in: shards) { stores throws(RedisError) in
      try await change.work(tally, in: stores)
    }
  }

  private func count(in stores: [ShardStore]) async throws(RedisError) -> Tally {
    var tally = Tally()
    var scan = try await LetterScan(
      filter, after: after?.name, upTo: upTo?.name,
      lookedMax: ServerLimits.countedLettersMax, in: stores)
    while scan.goesOn {
      let letters = try await scan.next()
      tally.count += letters.count
      let room = ServerLimits.changedLettersMax - tally.letters.count
      tally.letters += letters.prefix(room).map(\.name)
    }
    tally.upTo = scan.position
    return tally
  }

  /// Deals with the letters until all are dealt with, the time is over, or the store fails.
  /// - Throws: when it fails at the first of them. Later the tally says what was done until then, and what is left.
  private func work(_ start: Tally, in stores: [ShardStore]) async throws(RedisError) -> Tally {
    let office = DeadLetterOffice(stores: stores)
    let end = ContinuousClock.now + .seconds(ServerLimits.changeSeconds)
    var tally = start
    for letter in tally.letters {
      guard ContinuousClock.now < end else { break }
      do throws(RedisError) { try await change(letter, office, &tally) } catch {
        guard tally.last != nil else { throw error }
        break
      }
      tally.last = letter
    }
    return tally
  }

  private func change(
    _ letter: ShardEntry, _ office: DeadLetterOffice, _ tally: inout Tally
  ) async throws(RedisError) {
    switch verb {
    case .drop:
      if try await office.drop(letter) { tally.changed += 1 } else { tally.absent += 1 }
    case .retry:
      switch try await office.retry(letter) {
      case .retried: tally.changed += 1
      case .absent: tally.absent += 1
      case .gone: tally.refused.append((letter, Self.goneText))
      case .ending: tally.refused.append((letter, Self.endingText))
      }
    }
  }

  // MARK: The routes

  static func routes(_ scope: LetterScope) -> [APIRoute] {
    [
      route(
        .retry, scope, "Retry the dead letters of a filter",
        "Letters that cannot be retried stay, and are told."),
      route(.drop, scope, "Drop the dead letters of a filter", "They are removed for good."),
    ]
  }

  private static func route(
    _ verb: Verb, _ scope: LetterScope, _ summary: String, _ text: String
  ) -> APIRoute {
    APIRoute(
      .post, scope.pattern(":\(verb.rawValue)"), DeadLetterRoutes.actors,
      bodyBytesMax: ServerLimits.controlBytesMax, isSearch: true,
      RouteDocument(
        DeadLetterRoutes.group, summary,
        "\(text) Nothing is done unless the filter has exactly as many letters as expected_count says. A request deals with "
          + "\(ServerLimits.changedLettersMax) letters at most, and for \(ServerLimits.changeSeconds) s, or until Redis fails: left says "
          + "how many there are still to deal with. To go on, send last as after, up_to as it is, and left as expected_count.",
        request: .json(requestSchema(scope)),
        answers: [RouteDocument.Answer(200, "What was done.", .json(answerSchema(verb)))],
        problems: [
          (
            status: 409, meaning: "The count differs; the problem's count has it. Nothing was done."
          ),
          (status: 422, meaning: "The body breaks a rule."),
        ])
    ) { request, services throws(Problem) in
      let change = try LetterChange(verb, request, scope, of: services.session.shards)
      let tally = try await change.run(services)
      await services.noteAct(
        "dead.\(verb.rawValue)", app: change.filter.app ?? "", subject: "",
        detail: "\(tally.changed) letters of \(change.filter.text)", by: request.caller)
      return .ok(json(verb, tally))
    }
  }

  /// The name of the count of letters that were dealt with.
  private static func name(_ verb: Verb) -> String {
    switch verb {
    case .retry: "retried"
    case .drop: "dropped"
    }
  }

  private static func json(_ verb: Verb, _ tally: Tally) -> JSONValue {
    var object: JSONObject = [
      name(verb): .integer(tally.changed), "absent": .integer(tally.absent),
      "left": .integer(tally.left), "last": tally.last.map { .string($0.text) } ?? .null,
      "up_to": tally.upTo.map { .string($0.text) } ?? .null,
    ]
    guard verb == .retry else { return .object(object) }
    object["refused_count"] = .integer(tally.refused.count)
    object["refused"] = .array(
      tally.refused.prefix(ServerLimits.toldLettersMax).map {
        ["entry": .string($0.letter.text), "reason": .string($0.reason)]
      })
    return .object(object)
  }

  private static func requestSchema(_ scope: LetterScope) -> JSONValue {
    let text = Schema.string(bytesMax: ServerLimits.reasonBytesMax)
    let entry: JSONValue = .object([
      "type": .string("string"), "pattern": .string(LetterSchema.namePattern),
    ])
    var fields: [(String, JSONValue)] = [
      ("reason", text), ("kind", Schema.choice(LetterFilter.kinds)), ("after", entry),
      ("up_to", entry),
      (
        "expected_count",
        Schema.integer("How many letters the filter has", in: 0...Int(Int32.max))
      ),
    ]
    if case .fleet = scope { fields.insert(("app", text), at: 0) }
    return Schema.object(fields, required: ["expected_count"], closed: true)
  }

  private static func answerSchema(_ verb: Verb) -> JSONValue {
    var fields: [(String, JSONValue)] = [
      (name(verb), Schema.integer("Letters that this request dealt with")),
      ("absent", Schema.integer("Letters that somebody else has dealt with meanwhile")),
      ("left", Schema.integer("Letters of the filter that are still to be dealt with")),
      (
        "last",
        Schema.nullable(Schema.string("The last letter that was dealt with; null without any"))
      ),
      (
        "up_to",
        Schema.nullable(Schema.string("The last letter that was counted; null without any"))
      ),
    ]
    if verb == .retry {
      let refused = Schema.object(
        [("entry", Schema.string()), ("reason", Schema.string())],
        required: ["entry", "reason"], closed: true)
      fields += [
        ("refused_count", Schema.integer("Letters that could not be retried")),
        ("refused", Schema.array(of: refused, "The first of them")),
      ]
    }
    return Schema.object(fields, required: fields.map(\.0), closed: true)
  }
}
