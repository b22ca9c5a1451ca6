internal import Model

/// The schemas of what is told of the fleet.
enum FleetSchema {
  private static let count = Schema.integer()

  private static let backlog = Schema.object(
    Priority.allCases.map { priority in
      (
        priority.rawValue,
        Schema.object(
          [
            ("jobs", Schema.integer("Jobs that no worker has taken in")),
            ("waiting", Schema.integer("Chunks that no worker holds")),
            ("in_work", Schema.integer("Chunks that workers hold")),
          ], required: ["jobs", "waiting", "in_work"])
      )
    }, required: Priority.allCases.map(\.rawValue))

  private static let worker = Schema.object(
    [
      ("worker", Schema.string()), ("last_beat", Schema.instant("When it beat last")),
      ("alive", Schema.boolean()),
    ], required: ["worker", "last_beat", "alive"],
    description: "And what the worker says of itself, see docs/reference/redis.md")

  private static let alarm = Schema.object(
    [
      ("alarm", Schema.string("Its kind and what it is about")),
      ("since", Schema.instant("Since when")), ("message", Schema.string()),
      ("shard", Schema.string("The shard that it is about, of a fleet with several")),
    ], required: ["alarm", "since", "message"])

  private static let outcome = Schema.object(
    [
      ("app", Schema.string()), ("network", Schema.string()), ("outcome", Schema.string()),
      ("last_minute", count), ("this_minute", count),
    ], required: ["last_minute", "this_minute"])

  private static let breaker = Schema.object(
    [
      ("app", Schema.string()), ("network", Schema.string()), ("environment", Schema.string()),
      ("since", Schema.instant("Since when it is open")), ("message", Schema.string()),
    ], required: ["app", "network", "environment", "since", "message"])

  private static let shard = Schema.object(
    [
      ("shard", Schema.string()), ("present", Schema.boolean("Whether it can be asked")),
      ("message", Schema.string("Why it cannot be asked")),
      ("jobs", Schema.integer("Jobs that no worker has taken in")),
      ("waiting", Schema.integer("Chunks that no worker holds")),
      ("in_work", Schema.integer("Chunks that workers hold")),
      ("delayed", Schema.integer("Chunks that wait for their time")),
      ("dead", Schema.integer("Dead letters")),
    ], required: ["shard", "present"])

  private static let rate = Schema.object(
    [
      ("app", Schema.string()),
      ("per_second", Schema.integer("As this server's configuration says, or the app in Redis")),
      (
        "drawn_at",
        Schema.nullable(
          Schema.instant("When workers drew from it last; null where they did not of late"))
      ),
    ], required: ["app", "per_second", "drawn_at"])

  static let fleet = Schema.object(
    [
      ("at", Schema.instant("The moment")), ("workers", Schema.array(of: worker)),
      ("backlog", backlog), ("delayed", Schema.integer("Chunks that wait for their time")),
      ("dead", Schema.integer("Dead letters")),
      ("switched_off", Schema.array(of: Schema.object([("switch", Schema.string())]))),
      ("outcomes", Schema.array(of: outcome)),
      ("alarms", Schema.array(of: alarm, "The oldest first")),
      (
        "redis",
        Schema.array(
          of: Schema.nullable(Schema.object([])),
          "How each Redis is set up; null where it does not say")
      ), ("shards", Schema.array(of: shard, "Of a fleet with several alone")),
      ("breakers", Schema.array(of: breaker, "Networks that are in trouble")),
      ("rates", Schema.array(of: rate)),
    ],
    required: [
      "at", "workers", "backlog", "delayed", "dead", "switched_off", "outcomes", "alarms",
      "redis", "breakers", "rates",
    ])

  static let outcomes: JSONValue = {
    let series = Schema.object(
      [
        ("network", Schema.string("none where no installation was read")),
        ("outcome", Schema.string()), ("counts", Schema.array(of: count, "One a minute")),
      ], required: ["network", "outcome", "counts"], closed: true)
    let bound = Schema.array(of: Schema.nullable(count), "One a minute; null without answers")
    let latency = Schema.object(
      [
        ("network", Schema.string()), ("answers", Schema.array(of: count, "One a minute")),
        ("p50_ms", bound), ("p95_ms", bound), ("p99_ms", bound),
      ], required: ["network", "answers", "p50_ms", "p95_ms", "p99_ms"], closed: true)
    return Schema.object(
      [
        ("from", Schema.instant("The first minute")), ("step_ms", count), ("minutes", count),
        ("outcomes", Schema.array(of: series)), ("latency", Schema.array(of: latency)),
      ], required: ["from", "step_ms", "minutes", "outcomes", "latency"], closed: true)
  }()

  static let timeline = Schema.object(
    [
      (
        "entries",
        Schema.array(
          of: Schema.object(
            [
              ("at", Schema.instant("When")), ("backlog", count), ("oldest_ready_ms", count),
              ("delayed", count), ("ended", count), ("in_flight", count),
              ("accepted_per_second", count),
              ("shard", Schema.string("The shard that it is about, of a fleet with several")),
            ], required: ["at"]))
      )
    ], required: ["entries"], closed: true)
}
