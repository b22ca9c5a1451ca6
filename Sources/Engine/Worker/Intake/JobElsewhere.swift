internal import Model
internal import Store

/// A job whose app lives in another shard.
struct JobElsewhere: Sendable {
  let entry: JobEntry
  let app: String
  /// The id that it has here; one that says none is named by its entry.
  let id: String
  let hasOwnID: Bool
  let shard: ShardID
  /// Epoch milliseconds; nil when it does not expire.
  let expiresAtMs: Int64?

  /// The knowledge of a job in its own shard.
  enum Standing {
    /// Not added there by this lane.
    case waits
    /// Perhaps added there: the answer was lost. Only adding it again, under its id, tells.
    case mayBeThere
    /// Added there, and to be ended here.
    case isThere
    /// Cancelled here before it was added there, and to be ended.
    case isOver
  }

  var standing = Standing.waits
  /// Since when the lane holds it, by the loop's clock.
  var sinceNs: UInt64 = 0
  /// The text that was added, while it is not known whether it is there: it is added once more as it was.
  var added: [UInt8]?

  /// The id that a job without one is given: one that no job there has, since two shards can have equal entries.
  /// - Parameter origin: the shard in which it was added first.
  func givenID(from origin: ShardID) -> String? { hasOwnID ? nil : "\(origin.name)-\(id)" }

  /// The text as it is added there: under the same id, or under the one that it is given. So it is the same job, however often
  /// it is added. Where it has waited for long, the time to live that it has counts from when it was added first, and not anew.
  /// - Parameters:
  ///   - nowMs: by the clock of the shard in which it was added first.
  ///   - aheadMs: by how much the clock of its own shard is ahead of that (`clockDifference`).
  func text(from origin: ShardID, nowMs: Int64, aheadMs: Int64) -> [UInt8] {
    if let added { return added }
    if let text = lateText(from: origin, nowMs, aheadMs) { return text }
    guard let id = givenID(from: origin), let start = entry.text.firstIndex(of: UInt8(ascii: "{"))
    else {
      return entry.text
    }
    var text: [UInt8] = []
    text.reserveCapacity(entry.text.count + Self.bytes(ofMember: id))
    text += entry.text[...start]
    text += Self.member(id).utf8
    text += entry.text[(start + 1)...]
    return text
  }

  /// The text with an instant in place of a time to live; nil where it has none, or need not be changed.
  private func lateText(from origin: ShardID, _ nowMs: Int64, _ aheadMs: Int64) -> [UInt8]? {
    guard let expiresAtMs = expiresAtMs.flatMap({ Self.instant($0, laterBy: aheadMs) }),
      let createdAtMs = entry.enqueuedAtMs(nowMs: nowMs),
      nowMs - createdAtMs >= WorkerLimits.lateElsewhereMs,
      entry.text.count <= WorkerLimits.smallJobBytesMax,
      case .object(var object)? = try? JSONParser().parse(entry.text),
      object["ttl_seconds"] != nil,
      // Their seconds count from a time that the text says, wherever it is added.
      object["deliver_at"] == nil, object["deliver_local"] == nil
    else { return nil }
    object["ttl_seconds"] = nil
    object["expires_at"] = .integer(expiresAtMs)
    if let id = givenID(from: origin) { object["id"] = .string(id) }
    return JSONValue.object(object).bytes()
  }

  /// By how much the clock of a job's own shard is ahead of that of the shard in which it was added first; negative when it is
  /// behind. A small difference is none, and others are in steps: measured by whomever and whenever it is the same, and so is the
  /// text.
  static func clockDifference(thereMs: Int64, hereMs: Int64) -> Int64 {
    let step = WorkerLimits.clockDifferenceMsMax
    let (aheadMs, isBeyond) = thereMs.subtractingReportingOverflow(hereMs)
    guard !isBeyond, aheadMs.magnitude > step, aheadMs.magnitude <= Limits.instantMsMax else {
      return 0
    }
    return (aheadMs + aheadMs.signum() * step / 2) / step * step
  }

  /// Nil where a job cannot name it, as when one clock is in another century.
  private static func instant(_ ms: Int64, laterBy aheadMs: Int64) -> Int64? {
    let instant = ms &+ aheadMs
    return (Limits.recentInstantMsMin...Limits.instantMsMax).contains(instant) ? instant : nil
  }

  private static func member(_ id: String) -> String { #""id":"\#(id)","# }

  /// The bytes by which a text grows that is given an id.
  static func bytes(ofMember id: String) -> Int { member(id).utf8.count }
}

extension JobOfUnknownApp {
  /// A job that cannot be added where it belongs waits here, as that of an app which no worker has.
  init(_ job: JobElsewhere, from origin: ShardID) {
    self.init(
      entry: job.entry, app: job.app, id: job.id, suggestion: nil, expiresAtMs: job.expiresAtMs,
      givenID: job.givenID(from: origin))
  }
}
