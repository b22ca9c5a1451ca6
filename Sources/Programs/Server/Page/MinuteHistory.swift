internal import Model

/// The fleet's last hour: of each full minute how many installations ended, and how much waited at its end.
struct MinuteHistory {
  /// One minute that is over.
  struct Minute: Equatable, Sendable {
    /// The beginning of the minute, in epoch milliseconds.
    let atMs: Int64
    var accepted = 0
    /// Installations that ended otherwise.
    var others = 0
    /// The last that a worker told of the minute, of all shards; nil when none did.
    var backlog: Int?
    var oldestMs: Int64?

    init(atMs: Int64) { self.atMs = atMs }

    /// Adds what workers told of the same minute in another shard.
    mutating func add(_ other: Minute) {
      if let more = other.backlog { backlog = StoredNumber.count((backlog ?? 0) &+ more) }
      if let ms = other.oldestMs { oldestMs = max(oldestMs ?? 0, ms) }
    }

    /// Adds what a store counted in it: `<app>|<network>|<outcome>` → count.
    mutating func add(_ counts: [String: Int]) {
      for (name, count) in counts where count > 0 {
        let outcome = name.split(separator: "|", omittingEmptySubsequences: false).last ?? ""
        switch outcome {
        case "accepted": accepted = StoredNumber.count(accepted &+ count)
        case "rejected", "uninstalled", "expired", "skipped", "failed":
          others = StoredNumber.count(others &+ count)
        default: break
        }
      }
    }
  }

  private(set) var minutes: [Minute] = []

  /// The beginnings of the minutes that are over and not known yet.
  /// - Parameter knownMs: the last one that is known.
  static func missing(after knownMs: Int64?, nowMs: Int64) -> [Int64] {
    let current = nowMs - nowMs % 60_000
    let first = max(0, current - Int64(ServerLimits.historyMinutes) * 60_000)
    var next = knownMs.map { $0 + 60_000 } ?? first
    // The clock was set back, or Redis is another.
    if next > current { next = first }
    return Array(stride(from: max(first, next), to: current, by: 60_000))
  }

  /// The last minute that is known.
  var lastMs: Int64? { minutes.last?.atMs }

  mutating func add(_ others: [Minute]) {
    // The clock was set back, or Redis is another: what was known is not of this time.
    if let first = others.first, let lastMs, first.atMs <= lastMs { minutes.removeAll() }
    minutes += others
    minutes.removeFirst(max(0, minutes.count - ServerLimits.historyMinutes))
  }

  var json: JSONValue {
    .object([
      "minutes": .array(
        minutes.map { minute in
          .object([
            "at": .integer(minute.atMs), "accepted": .integer(minute.accepted),
            "others": .integer(minute.others),
            "backlog": minute.backlog.map { .integer($0) } ?? .null,
            "oldest_ready_ms": minute.oldestMs.map { .integer($0) } ?? .null,
          ])
        })
    ])
  }
}
