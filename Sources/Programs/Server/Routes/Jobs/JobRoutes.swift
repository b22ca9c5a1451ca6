internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// The routes of jobs: adding and finding them, and what operators do with them.
package enum JobRoutes {
  package static let all =
    [submission, list, fleetList, job, content]
    + [
      act(
        "cancel", .cancel, "Cancel a job",
        "Ends the job: what is not sent yet counts as skipped. Pushes under way are still counted."),
      act(
        "pause", .pause, "Pause a job",
        "Nothing of the job is sent until it is resumed. It keeps its place."),
      act("resume", .resume, "Resume a paused job", "A job that is not paused stays as it is."),
      pace, start,
    ]

  static let group = "jobs"
  /// Who may look at jobs, and who may change them.
  static let lookers = APIRoute.Access.roles([.server, .operatorLook])
  static let actors = APIRoute.Access.roles([.server, .operatorAct])

  // MARK: Adding a job

  private static let submission = APIRoute(
    .post, "/v1/apps/{app}/jobs", .roles([.server]), bodyBytesMax: ServerLimits.jobBytesMax,
    RouteDocument(
      group, "Add a job",
      "The job is checked and queued. A worker judges the rest when it takes it: look at the job. An id makes a repeated "
        + "request harmless: the same job is added once. A job without an id gets one, which the answer tells.",
      query: [
        RouteDocument.QueryField(
          "priority", "The higher is sent first; normal when it is left out.",
          Schema.choice(Priority.allCases.map(\.rawValue)))
      ],
      headers: [
        (
          name: "Idempotency-Key",
          meaning: "The job's id, where the body has none; 1 to 128 printable ASCII characters."
        )
      ],
      request: .json(JobSchema.job),
      answers: [
        RouteDocument.Answer(
          202,
          "The job is queued; Location names it. Idempotent-Replayed: true says that the same job came before.",
          .json(
            Schema.object(
              [("id", JobSchema.id), ("state", JobSchema.state)], required: ["id", "state"],
              closed: true)))
      ],
      problems: [
        (status: 409, meaning: "Another job of the app has the id."),
        (status: 422, meaning: "The job breaks a rule; errors names the field."),
      ])
  ) { request, services throws(Problem) in
    let wanted = try JobRequest(request, services.configuration)
    let path = ResourcePath("v1", "apps", wanted.app, "jobs", wanted.id)
    switch try await wanted.submit(services) {
    case .accepted(let state, let isReplayed):
      let response = APIResponse(
        202, .json(["id": .string(wanted.id), "state": .string(state.rawValue)])
      ).with("location", path.text)
      return isReplayed ? response.with("idempotent-replayed", "true") : response
    case .conflict(let field):
      var problem = Problem.conflict(field.description)
      problem.errors = [field]
      throw problem
    case .refused(let field): throw .invalid(field)
    case .uncertain: throw uncertain(wanted, path)
    }
  }

  private static func uncertain(_ wanted: JobRequest, _ path: ResourcePath) -> Problem {
    let advice =
      wanted.isNamedByCaller
      ? "send the same request again, which adds it once only"
      : "look whether it is at \(path.text), or send the request again with "
        + "Idempotency-Key: \(wanted.id), which adds it once only"
    var problem = Problem.unavailable(
      "the store has not answered, and the job may have been added: \(advice)")
    problem.members = ["id": .string(wanted.id)]
    return problem
  }

  // MARK: Finding jobs

  private static let list = APIRoute(
    .get, "/v1/apps/{app}/jobs", lookers, isSearch: true,
    JobPage.document("List the jobs of an app")
  ) { request, services throws(Problem) in
    let app = try AppPath(request).app
    return try await JobPage.response(
      request, services, app: app, path: ResourcePath("v1", "apps", app, "jobs"))
  }

  private static let fleetList = APIRoute(
    .get, "/v1/jobs", .roles([.operatorLook]), isSearch: true,
    JobPage.document("List the jobs of all apps")
  ) { request, services throws(Problem) in
    try await JobPage.response(request, services, app: nil, path: ResourcePath("v1", "jobs"))
  }

  private static let job = APIRoute(
    .get, "/v1/apps/{app}/jobs/{id}", lookers, isSearch: true,
    RouteDocument(
      group, "Show a job",
      "Its record with the progress, the rate and the time left, to whom it goes, and what keeps it from going on.",
      answers: [RouteDocument.Answer(200, "The job.", .json(JobSchema.sheet))],
      problems: [(status: 410, meaning: "The job has ended, and its record is not kept any more.")])
  ) { request, services throws(Problem) in
    let path = try JobPath(request)
    let finding = try await path.perform(.show, services)
    if case .doomed(let fault) = finding { return .ok(JobView.json(doomed: path, fault)) }
    let record = try path.record(finding)
    let (sheet, hindrances) = try await services.ask(
      in: .app(path.app), about: [.job(app: path.app, id: path.id)]
    ) {
      stores throws(RedisError) in
      (
        try await JobSheet.read(record, in: stores),
        record.state.isFinal
          ? [] : try await JobHindrance.all(of: record.app, record, in: stores)
      )
    }
    return .ok(
      JobView(record: record, sheet: sheet, hindrances: hindrances)
        .json(nowMs: InstantText.nowMs()))
  }

  private static let content = APIRoute(
    .get, "/v1/apps/{app}/jobs/{id}/content", lookers, isSearch: true,
    RouteDocument(
      group, "Show what a job says",
      "The words of the job, and to whom it goes, as far as they are kept. Of a list of users only its length is told.",
      answers: [RouteDocument.Answer(200, "The content.", .json(JobSchema.content))],
      problems: [
        (status: 409, meaning: "The job waits for a worker, who will refuse it."),
        (status: 410, meaning: "The job has ended, and its record is not kept any more."),
      ])
  ) { request, services throws(Problem) in
    let path = try JobPath(request)
    let finding = try await path.perform(.show, services)
    let record = try path.record(finding)
    let sheet = try await services.ask(
      in: .app(path.app), about: [.job(app: path.app, id: path.id)]
    ) {
      stores throws(RedisError) in
      try await JobSheet.read(record, in: stores)
    }
    var object: JSONObject = [
      "app": .string(path.app), "id": .string(path.id), "content": .null,
    ]
    for (name, value) in sheet.members { object[name] = value }
    return .ok(.object(object))
  }

  // MARK: Changing a job

  private static func act(
    _ name: String, _ action: JobAction, _ summary: String, _ text: String
  ) -> APIRoute {
    APIRoute(
      .post, PathPattern(stringLiteral: "/v1/apps/{app}/jobs/{id}:\(name)"), actors, isSearch: true,
      RouteDocument(
        group, summary, text + " It may be repeated.",
        answers: [RouteDocument.Answer(200, "The job as it is now.", .json(JobSchema.record))],
        problems: changeProblems)
    ) { request, services throws(Problem) in
      try await change(request, services, name, action)
    }
  }

  private static let pace = APIRoute(
    .patch, "/v1/apps/{app}/jobs/{id}", actors, bodyBytesMax: ServerLimits.controlBytesMax,
    isSearch: true,
    RouteDocument(
      group, "Set a job's pace",
      "Pushes a second of the whole fleet; null for as many as there can be. It holds for what workers take up from now on, "
        + "and at once for a job that has a pace already. It may be repeated.",
      request: .json(
        Schema.object(
          [
            (
              "pace", Schema.nullable(Schema.integer(in: 1...Limits.pushesPerSecondMax))
            )
          ], required: ["pace"], closed: true)),
      answers: [RouteDocument.Answer(200, "The job as it is now.", .json(JobSchema.record))],
      problems: changeProblems + [(status: 422, meaning: "The body breaks a rule.")])
  ) { request, services throws(Problem) in
    let fields = try RequestFields(request, known: ["pace"])
    guard let value = fields["pace"] else {
      throw fields.refused("pace", "is missing: give pushes a second, or null for no pace")
    }
    let perSecond =
      value == .null
      ? nil : try fields.integer("pace", in: 1...Limits.pushesPerSecondMax)
    return try await change(
      request, services, "pace", .pace(perSecond: perSecond),
      detail: perSecond.map(String.init) ?? "off")
  }

  static let startField = "deliver_at"

  private static let start = APIRoute(
    .post, "/v1/apps/{app}/jobs/{id}:reschedule", actors,
    bodyBytesMax: ServerLimits.controlBytesMax, isSearch: true,
    RouteDocument(
      group, "Have a job start at another time",
      "Of a job that a worker has taken in and that has not started; null for at once. A paused job starts when it is resumed. "
        + "What counts from the start moves with it, as ttl_seconds does. An instant may be repeated.",
      request: .json(
        Schema.object(
          [(startField, Schema.nullable(Schema.anyInstant("When it is to start")))],
          required: [startField], closed: true)),
      answers: [RouteDocument.Answer(200, "The job as it is now.", .json(JobSchema.record))],
      problems: changeProblems + [
        (
          status: 422,
          meaning:
            "The body breaks a rule: the instant is too far ahead, or the job would expire before it."
        )
      ])
  ) { request, services throws(Problem) in
    let fields = try RequestFields(request, known: [startField])
    guard let value = fields[startField] else {
      throw fields.refused(startField, "is missing: give an instant, or null for at once")
    }
    let atMs = value == .null ? nil : try fields.instantMs(startField)
    return try await change(
      request, services, "reschedule", .reschedule(atMs: atMs),
      detail: atMs.map { InstantText.rfc3339(ms: $0) } ?? "now")
  }

  private static let changeProblems: [(status: Int, meaning: String)] = [
    (
      status: 409,
      meaning:
        "The job has ended, or waits for a worker who will refuse it, or is in no state for this."
    ),
    (status: 410, meaning: "The job has ended, and its record is not kept any more."),
  ]

  private static func change(
    _ request: APIRequest, _ services: Services, _ verb: String, _ action: JobAction,
    detail: String = ""
  ) async throws(Problem) -> APIResponse {
    let path = try JobPath(request)
    let before = try await path.recorded(services)
    let finding = try await path.perform(action, services)
    let record = try path.record(finding)
    guard !action.wasTooLate(record.state) else {
      var problem = Problem.conflict(
        "job \(path.id) is \(record.state.rawValue), and so \(tooLate(action))")
      problem.members = ["state": .string(record.state.rawValue)]
      throw problem
    }
    // A request that changes nothing is no act.
    if let before, before.state == record.state, before.pace == record.pace,
      before.startAtMs == record.startAtMs
    {
      return .ok(record.json(nowMs: InstantText.nowMs()))
    }
    await services.noteAct(
      "job.\(verb)", app: path.app, subject: path.id, detail: detail, by: request.caller)
    return .ok(record.json(nowMs: InstantText.nowMs()))
  }

  private static func tooLate(_ action: JobAction) -> String {
    switch action {
    case .show, .reschedule: "nothing can be done with it"
    case .cancel: "it cannot be cancelled any more"
    case .pause: "it cannot be paused any more"
    case .resume: "it cannot be resumed any more"
    case .pace: "nothing of it is left to be sent"
    }
  }
}
