/// The public record of a job. Counters are installations.
package struct JobRecord: Sendable, Equatable {
  package let app: String
  package let id: String
  /// The shard that has the job; nil for whoever knows one store only, as a worker.
  package var shard: ShardID?
  package var state: JobState
  package var total = 0
  package var counts = OutcomeCounts()
  package var pending = 0
  /// Epoch milliseconds, as the next two.
  package var createdAtMs: Int64?
  package var startedAtMs: Int64?
  package var finishedAtMs: Int64?
  /// When a scheduled job is to start.
  package var startAtMs: Int64?
  /// The seconds for which a job with a start lives from that on; nil where its content alone says when it expires.
  package private(set) var livesSeconds: Int?
  /// The local time that a job with `deliver_local` is sent for now, or waits for.
  package var roundAtMs: Int64?
  package var priority: Priority?
  /// The bucket of the event that the job tells of, once it is admitted.
  package var bucket: String?
  /// The topic that the job goes to, once it is admitted.
  package var topic: String?
  /// Which entry of its shard it came by: its priority's first letter and the entry's id; nil where the record does not say.
  package var source: String?
  /// The key that holds its users; nil for another audience.
  package var usersKey: String?
  /// The index of its users, by the functions' name for it; nil for another audience.
  package var index: String?
  /// `users` or `installations`, what a list of receivers holds, while the job is under way.
  package var lines: String?
  /// The pace that the job keeps to while it runs.
  package var pace: JobPace?
  /// Why the job was refused; nil unless its state is `refused`. It ended then, and nothing of it was counted.
  package private(set) var refusal: JobRefusal?
  /// False before a worker has taken the job in: nothing is counted then.
  package var isAdmitted = false

  /// The instant by which it expires where that counts from its start, whatever its content says; epoch milliseconds, nil for any
  /// other.
  package var expiresAtMs: Int64? {
    guard let livesSeconds, let startAtMs else { return nil }
    return Expiry.ttl(seconds: livesSeconds).expiresAtMs(createdAtMs: startAtMs)
  }

  package init(app: String, id: String, state: JobState) {
    self.app = app
    self.id = id
    self.state = state
  }

  /// From the fields of the record's HASH. Fields that are not public are passed over, an absent counter is 0.
  package init(
    app: String, id: String, fields: [(String, String)]
  ) throws(InvalidField) {
    guard let written = fields.first(where: { $0.0 == "state" })?.1 else {
      throw InvalidField(pointer: "/state", message: "is missing: this is not a job's record")
    }
    guard let state = JobState(rawValue: written) else {
      throw InvalidField(
        pointer: "/state", message: FieldReader.notAChoice(written, of: JobState.self))
    }
    self.init(app: app, id: id, state: state)
    if state == .refused { refusal = JobRefusal(reason: "") }
    for (name, text) in fields { try read(name, text) }
  }

  private mutating func read(_ name: String, _ text: String) throws(InvalidField) {
    switch name {
    case "total": total = try Self.count(name, text)
    case "pending": pending = try Self.count(name, text)
    case "created_at": createdAtMs = try Self.instantMs(name, text)
    case "started_at": startedAtMs = try Self.instantMs(name, text)
    case "finished_at": finishedAtMs = try Self.instantMs(name, text)
    case "start_at": startAtMs = text == "0" ? nil : try Self.instantMs(name, text)
    case "lives": livesSeconds = try Self.count(name, text)
    case "round_at": roundAtMs = try Self.instantMs(name, text)
    case "admitted": isAdmitted = text == "1"
    case "priority": priority = Priority(rawValue: text)
    // Of a job that has ended it says so alone.
    case "source":
      source = text
      priority = priority ?? Priority.allCases.first { $0.rawValue.first == text.first }
    case "pushes_per_second": pace = .perSecond(try Self.count(name, text))
    case "spread_over_seconds": pace = .spread(seconds: try Self.count(name, text))
    case "bucket": bucket = text
    case "topic": topic = text
    case "users_key": usersKey = text
    case "index": index = text
    case "lines": lines = text
    // An older version leaves these in the record of the next job of the name.
    case "refused_at": if state == .refused { finishedAtMs = try Self.instantMs(name, text) }
    case "reason": refusal?.reason = text
    case "field": refusal?.field = text
    case "message": refusal?.message = text
    case "letter": refusal?.letter = text
    default:
      if let path = OutcomeCounts.path(name) {
        counts[keyPath: path] = try Self.count(name, text)
      }
    }
  }

  private static func instantMs(_ name: String, _ text: String) throws(InvalidField) -> Int64 {
    StoredNumber.instantMs(Int64(try integer(name, text)))
  }

  private static func count(_ name: String, _ text: String) throws(InvalidField) -> Int {
    StoredNumber.count(try integer(name, text))
  }

  private static func integer(_ name: String, _ text: String) throws(InvalidField) -> Int {
    guard let count = Int(text) else {
      throw InvalidField(
        pointer: FieldPointer.child(name, of: ""),
        message: "must be an integer, is \"\(FieldPointer.printable(text))\"")
    }
    return count
  }

  /// When it goes on, if it runs but has nothing to send before.
  package func goesOnAtMs(nowMs: Int64) -> Int64? {
    guard state == .running, let roundAtMs, roundAtMs > nowMs else { return nil }
    return roundAtMs
  }

  /// The text by which the dead letter of a refused job is asked for; empty for a job without one.
  package var letterText: String {
    guard let refusal else { return "" }
    return shard?.text(of: refusal.letter) ?? refusal.letter
  }

  /// The promise of the counters: every installation is pending or ended in exactly one outcome.
  package var isBalanced: Bool { total == counts.settled + pending }
}

/// Where a job is in its life.
package enum JobState: String, Sendable, Hashable, CaseIterable {
  case queued, scheduled, running, paused, cancelled, done
  /// Not admitted: a dead letter has its text. The name is free for another job.
  case refused

  /// Nothing more happens to it.
  package var isFinal: Bool { self == .cancelled || self == .done || self == .refused }
}
