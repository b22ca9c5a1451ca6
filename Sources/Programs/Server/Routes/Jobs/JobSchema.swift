internal import Model
internal import Store

/// The schemas of jobs.
enum JobSchema {
  static let id = Schema.string("Unique in the app", bytesMax: Limits.jobIDBytesMax)
  static let state = Schema.choice(JobState.allCases.map(\.rawValue))

  private static let count = Schema.integer()

  /// A producer's job. Only what says who it is for is told here: docs/reference/jobs.md has all of it.
  static let job: JSONValue = {
    let audience = Schema.object(
      [
        ("users", Schema.array(of: Schema.string(bytesMax: Limits.userBytesMax))),
        ("topic", Schema.string(bytesMax: Limits.topicBytesMax)),
        ("channel", Schema.string(bytesMax: Limits.channelBytesMax)),
        ("all", ["const": .bool(true)]),
        ("installations", Schema.array(of: Schema.object([]))),
        ("users_key", Schema.string(bytesMax: Limits.usersKeyBytesMax)),
      ], description: "One of these")
    return Schema.object(
      [
        ("id", id), ("app", Schema.string("The app of the path, or left out")),
        ("audience", audience),
        ("notification", Schema.object([], description: "What people read")),
      ], required: ["audience"],
      description: "See docs/reference/jobs.md for all fields; an unknown one is refused")
  }()

  private static let recordFields: [(String, JSONValue)] =
    [
      ("app", Schema.string()), ("id", Schema.string()), ("state", state),
      ("admitted", Schema.boolean("Whether a worker has taken it in")),
      ("priority", Schema.choice(Priority.allCases.map(\.rawValue))),
      ("bucket", Schema.string()), ("topic", Schema.string()),
      ("total", Schema.integer("Installations: the sum of the outcomes and of pending")),
    ]
    + ["accepted", "rejected", "uninstalled", "expired", "skipped", "failed"].map { ($0, count) }
    + [
      ("retries", count), ("no_installations", Schema.integer("Users without an installation")),
      ("pending", count), ("pushes_per_second", count), ("spread_over_seconds", count),
      ("created_at", Schema.instant("When it was added")),
      ("start_at", Schema.instant("When it is to start")),
      ("round_at", Schema.instant("The local time that it is sent for now, or waits for")),
      ("started_at", Schema.instant("When it started")),
      ("finished_at", Schema.instant("When it ended")),
      ("refused_at", Schema.instant("When it was refused")),
      ("reason", Schema.string("Why it was refused, for programs")),
      ("field", Schema.string("Which field was refused, a JSON pointer")),
      ("message", Schema.string("Why it was refused, for people")),
      ("letter", Schema.string("The entry of its dead letter")),
      ("left_ms", Schema.integer("The time that it takes yet at its pace so far")),
    ]

  static let record = Schema.object(recordFields, required: ["app", "id", "state", "admitted"])

  private static let audience = Schema.object(
    [], description: "As the job has it; of a list only its length or its kind is told")

  static let hindrance = Schema.object(
    [
      (
        "kind",
        Schema.choice([
          "paused", "scheduled", "between_local_times", "switched_off", "users_switched_off",
          "no_worker", "alarm",
        ])
      ),
      ("at", Schema.instant("When it goes on")), ("switch", Schema.string()),
      ("since", Schema.instant("Since when it is switched off")),
      ("reason", Schema.string("Why it is switched off")),
      ("app", Schema.string("The app of what is switched off")),
      ("count", Schema.integer("How many users of the app are switched off")),
      ("alarm", Schema.string("The alarm's field")), ("message", Schema.string()),
    ], required: ["kind"])

  /// One job with all that follows from its record.
  static let sheet = Schema.object(
    recordFields + [
      ("settled", Schema.integer("Installations that ended in an outcome")),
      ("progress_percent", Schema.integer(in: 0...100)),
      ("per_second", Schema.integer("Pushes settled in a second, over the job's whole time")),
      ("audience", audience), ("filter", Schema.object([])),
      (
        "fault",
        Schema.object(
          [("field", Schema.string()), ("message", Schema.string())],
          required: ["field", "message"],
          description: "Why the worker that takes the job will refuse it")
      ),
      (
        "hindrances",
        Schema.array(of: hindrance, "What keeps the job, or a part of it, from going on")
      ),
    ], required: ["app", "id", "state", "admitted", "hindrances"])

  static let content = Schema.object(
    [
      ("app", Schema.string()), ("id", Schema.string()), ("audience", audience),
      ("filter", Schema.object([])),
      (
        "content",
        Schema.nullable(
          Schema.object([], description: "The words of the job; null when they are not kept"))
      ),
    ], required: ["app", "id", "audience", "content"])
}
