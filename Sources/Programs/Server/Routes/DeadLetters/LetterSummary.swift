internal import Model
internal import Redis
internal import Store

/// How many dead letters there are of each reason.
struct LetterSummary: Sendable {
  /// Letters of one app and one reason.
  private struct Group: Sendable {
    let app: String
    let reason: String
    var count = 0
    /// Recipients of chunks, and jobs.
    var recipients = 0
    var first: ShardEntry
    var last: ShardEntry
    var firstMs: Int64?
    var lastMs: Int64?
  }

  private var groups: [[String]: Group] = [:]
  private var count = 0
  private var looked = 0
  private var isComplete = true
  /// The last letter that was looked at.
  private var upTo: ShardEntry?

  init(of filter: LetterFilter, in stores: [ShardStore]) async throws(RedisError) {
    var scan = try await LetterScan(
      filter, lookedMax: ServerLimits.countedLettersMax, in: stores)
    while scan.goesOn {
      for letter in try await scan.next() { add(letter) }
    }
    looked = scan.looked
    upTo = scan.position
    isComplete = isComplete && scan.isAtEnd
  }

  private mutating func add(_ letter: DeadLetter) {
    count += 1
    let name = [letter.app, letter.reason]
    guard groups[name] != nil || groups.count < ServerLimits.letterGroupsMax else {
      isComplete = false
      return
    }
    var group =
      groups[name]
      ?? Group(
        app: letter.app, reason: letter.reason, first: letter.name, last: letter.name,
        firstMs: letter.atMs)
    group.count += 1
    // Whoever wrote into Redis by hand may have written any number.
    let (sum, overflows) = group.recipients.addingReportingOverflow(max(0, letter.count ?? 1))
    group.recipients = overflows ? .max : sum
    group.last = letter.name
    group.lastMs = letter.atMs
    groups[name] = group
  }

  var json: JSONValue {
    let sorted = groups.values.sorted {
      ($1.count, $0.app, $0.reason) < ($0.count, $1.app, $1.reason)
    }
    return [
      "count": .integer(count), "looked_at": .integer(looked), "complete": .bool(isComplete),
      "up_to": upTo.map { .string($0.text) } ?? .null,
      "groups": .array(
        sorted.map { group in
          [
            "app": .string(group.app), "reason": .string(group.reason),
            "count": .integer(group.count), "recipients": .integer(group.recipients),
            "first": .string(group.first.text), "last": .string(group.last.text),
            "first_at": group.firstMs.map { .integer($0) } ?? .null,
            "last_at": group.lastMs.map { .integer($0) } ?? .null,
          ]
        }),
    ]
  }
}

/// The schemas of dead letters.
enum LetterSchema {
  /// The name of a shard, where it is written, and two numbers of 64 bits.
  static let namePattern =
    "^([A-Za-z0-9_-]{1,\(Limits.shardNameBytesMax)}/)?[0-9]{1,20}-[0-9]{1,20}$"

  static let letter = Schema.object(
    [
      ("entry", Schema.string("Its name")), ("at", Schema.instant("When it was given up")),
      ("kind", Schema.string("job or chunk")), ("reason", Schema.string("For programs")),
      ("field", Schema.string("The field at fault, a JSON pointer")),
      ("message", Schema.string("For people")), ("app", Schema.string()),
      ("id", Schema.string("The job's id")), ("priority", Schema.string()),
      ("count", Schema.integer("Recipients that were still open, or jobs that it stands for")),
      ("truncated", Schema.boolean("Whether only the beginning of the job is kept")),
      ("job", Schema.string("The job's text")),
      ("recipients", Schema.string("The recipients, a line each")),
    ], required: ["entry"])

  private static let nullableInstant = Schema.nullable(Schema.instant("When"))

  static let summary = Schema.object(
    [
      ("count", Schema.integer("Letters of the filter")),
      ("looked_at", Schema.integer("Letters that were looked at")),
      ("complete", Schema.boolean("Whether all letters were looked at, and each is in a group")),
      (
        "up_to",
        Schema.nullable(Schema.string("The last letter that was looked at; null without any"))
      ),
      (
        "groups",
        Schema.array(
          of: Schema.object(
            [
              ("app", Schema.string("Empty where the job could not be read")),
              ("reason", Schema.string()), ("count", Schema.integer("Letters")),
              ("recipients", Schema.integer("Recipients of chunks, and jobs")),
              ("first", Schema.string("Its first letter")),
              ("last", Schema.string("Its last letter")), ("first_at", nullableInstant),
              ("last_at", nullableInstant),
            ],
            required: [
              "app", "reason", "count", "recipients", "first", "last", "first_at", "last_at",
            ], closed: true), "The largest first")
      ),
    ], required: ["count", "looked_at", "complete", "up_to", "groups"], closed: true)
}
