internal import Model
internal import Reactor
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

  /// The text as it is added there: under the same id. A job without one is given one that no job there has, since two shards
  /// can have equal entries. So it is the same job, however often it is added.
  /// - Parameter origin: the shard in which it was added first.
  func text(from origin: ShardID) -> [UInt8] {
    guard !hasOwnID, let start = entry.text.firstIndex(of: UInt8(ascii: "{")) else {
      return entry.text
    }
    let member = #""id":"\#(origin.name)-\#(id)","#
    return Array(entry.text[...start]) + Array(member.utf8) + Array(entry.text[(start + 1)...])
  }
}

extension JobOfUnknownApp {
  /// A job that cannot be added where it belongs waits here, as that of an app which no worker has.
  init(_ job: JobElsewhere) {
    self.init(
      entry: job.entry, app: job.app, id: job.id, suggestion: nil, expiresAtMs: job.expiresAtMs)
  }
}

/// The jobs that a lane has for other shards, until they are added there; loop-bound. A shard that is away holds up nothing but
/// these.
final class JobsElsewhere {
  private var waiting: [JobElsewhere] = []
  private var current: [JobElsewhere] = []
  private var bytes = 0
  let signal: LoopSignal

  init(loop: EventLoop) { signal = LoopSignal(loop: loop) }

  /// - Returns: false when there is no room for it.
  func add(_ job: JobElsewhere) -> Bool {
    let size = job.entry.text.count
    guard waiting.count < WorkerLimits.jobsElsewhereMax,
      waiting.isEmpty || bytes + size <= WorkerLimits.jobsElsewhereBytesMax
    else { return false }
    waiting.append(job)
    bytes += size
    signal.raise()
    return true
  }

  /// The next ones for one shard, which are in hand until `noteEnded`; none when there are no more.
  func next() -> [JobElsewhere] {
    guard let shard = waiting.first?.shard else { return [] }
    let count = waiting.prefix(WorkerLimits.jobsElsewhereAtOnceMax).prefix { $0.shard == shard }
      .count
    current = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    bytes -= current.reduce(0) { $0 + $1.entry.text.count }
    return current
  }

  func noteEnded() { current = [] }

  var areAny: Bool { !waiting.isEmpty }

  /// All that was leased to this lane and is not ended.
  var inHand: [JobEntry] { (current + waiting).map(\.entry) }
}
