internal import Model
internal import Store

/// Carries traces to Redis. The protocol does not name `JobTrace`, so that the two do not need each other.
protocol TraceCarrier<Trace>: AnyObject {
  associatedtype Trace: AnyObject
  /// Epoch milliseconds by Redis's clock.
  var nowMs: Int64 { get }
  /// A trace has something to tell, and had nothing before.
  func note(_ trace: Trace)
  /// Sends what a trace has to tell, if Redis takes it.
  /// - Parameter isLast: also what is told only now and then.
  func send(_ trace: Trace, isLast: Bool)
}

/// The events that one lane has recorded of one job's pushes and not sent yet; bounded, loop-bound.
final class JobTrace {
  /// Events that stand for the same thing; each kind is recorded only so often, then counted.
  private struct Sort: Hashable {
    let decision: TraceDecision?
    let cause: TraceCause?

    /// How many of them are recorded.
    var recordedMax: Int {
      switch decision {
      case .retry, .deferred, .resend: WorkerLimits.tracedUnderwayMax
      case .accepted: WorkerLimits.tracedAcceptsMax
      default: WorkerLimits.tracedAlikeMax
      }
    }
  }

  let app: String
  let job: String
  /// Whether plain accepts are recorded, too: the job asks for it.
  let isFull: Bool
  private let carrier: any TraceCarrier<JobTrace>
  /// How many runs of the job the lane has in hand that have not begun to tell their last.
  private var runs = 0
  private var lines: [UInt8] = []
  private var count = 0
  private var recorded: [Sort: Int] = [:]
  /// Counts of events that were not recorded and are not told yet.
  private var omitted: [Sort: Int] = [:]
  private var lost = 0
  private var toldOmittedNs: UInt64 = 0
  private var isWaiting = false

  init(app: String, job: String, isFull: Bool, carrier: any TraceCarrier<JobTrace>) {
    self.app = app
    self.job = job
    self.isFull = isFull
    self.carrier = carrier
  }

  /// Whether there is so much that it is sent at once.
  var isBatchFull: Bool { lines.count >= WorkerLimits.traceBatchBytes }

  /// A run of the job is in the lane's hands.
  func beginRun() { runs += 1 }

  /// Notes that a run begins to tell its last, or has nothing to tell any more.
  func endRun() { runs -= 1 }

  /// Whether some run of the job is still to tell its last, and brings what is recorded.
  var hasRuns: Bool { runs > 0 }

  /// A line that gets its time when it is recorded.
  static func line(_ kind: TraceKind) -> TraceLine { TraceLine(atMs: 0, kind: kind) }

  func record(_ line: TraceLine) { record(line.decision, because: line.cause) { line } }

  /// Records an event, or counts it when there are enough like it: its line is not made then.
  func record(_ decision: TraceDecision?, because cause: TraceCause?, _ line: () -> TraceLine) {
    if admits(Sort(decision: decision, cause: cause)) {
      var line = line()
      line.decision = decision
      line.cause = cause
      line.atMs = carrier.nowMs
      line.append(to: &lines)
      count += 1
      if isBatchFull { send() }
    }
    guard !isWaiting else { return }
    isWaiting = true
    carrier.note(self)
  }

  private func admits(_ sort: Sort) -> Bool {
    guard lines.count < WorkerLimits.traceBufferBytesMax else {
      lost += 1
      return false
    }
    guard !isFull else { return true }
    let before = recorded[sort, default: 0]
    guard before < sort.recordedMax else {
      omitted[sort, default: 0] += 1
      return false
    }
    recorded[sort] = before + 1
    return true
  }

  /// Has what was recorded sent, if Redis takes it.
  func send() { carrier.send(self, isLast: false) }

  /// Events that were sent may not have arrived.
  func noteLost(_ count: Int) {
    lost += count
    guard !isWaiting else { return }
    isWaiting = true
    carrier.note(self)
  }

  /// Whether it is to be asked again, because there is something that `take` has not given yet.
  func staysWaiting() -> Bool {
    isWaiting = count > 0 || lost > 0 || !omitted.isEmpty
    return isWaiting
  }

  /// Takes out the lines that are to be sent now; nil when that is nothing.
  /// - Parameter isLast: also what was omitted lately, which else is told only now and then.
  func take(nowNs: UInt64, isLast: Bool) -> (lines: [UInt8], count: Int)? {
    if lost > 0 {
      tell(lost, Sort(decision: nil, cause: .notTaken))
      lost = 0
    }
    let isDue = nowNs &- toldOmittedNs >= WorkerLimits.traceOmittedMs &* 1_000_000
    if !omitted.isEmpty && (isDue || isLast) {
      toldOmittedNs = nowNs
      for (sort, count) in omitted {
        tell(count, Sort(decision: sort.decision, cause: sort.cause ?? .tooMany))
      }
      omitted.removeAll(keepingCapacity: true)
    }
    guard count > 0 else { return nil }
    defer {
      lines = []
      count = 0
    }
    return (lines, count)
  }

  private func tell(_ number: Int, _ sort: Sort) {
    var line = Self.line(.omitted)
    line.atMs = carrier.nowMs
    line.decision = sort.decision
    line.cause = sort.cause
    line.count = number
    line.append(to: &lines)
    count += 1
  }
}
