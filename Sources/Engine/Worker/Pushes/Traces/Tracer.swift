internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Brings what a lane records of its jobs' pushes to the store, without anybody waiting for it; loop-bound.
///
/// A trace is the first thing to do without: when Redis is away for long or slow, events are dropped and counted,
/// and the count is recorded when Redis is back. What was on its way when a connection was lost is sent again.
final class Tracer: TraceCarrier {
  private let store: TraceStore
  private let by: String
  private let loop: EventLoop
  private let clock: FleetClock
  private var timer: LoopTimer!
  /// Traces that have something to tell.
  private var waiting: [JobTrace] = []
  private struct Batch {
    let trace: JobTrace
    let lines: [UInt8]
    let count: Int
    let number: UInt64
  }

  /// Batches that were sent, and of which nobody knows whether they have arrived.
  private var unanswered: [Batch] = []
  private var lastNumber: UInt64 = 0
  /// Batches that Redis has not answered for.
  private var outstanding = 0
  private let drained: LoopSignal

  /// - Parameter by: the lane, as its events name it.
  init(loop: EventLoop, store: TraceStore, by: String, clock: FleetClock) {
    self.loop = loop
    self.clock = clock
    self.store = store
    self.by = by
    drained = LoopSignal(loop: loop)
    timer = LoopTimer(loop: loop) { [unowned self] in
      // One load for both: to be sent, a trace may let go of the tracer.
      let tracer = self
      tracer.flush()
      if tracer.hasMore { tracer.timer.schedule(afterMs: WorkerLimits.traceFlushMs) }
    }
  }

  deinit { timer?.cancel() }

  private var hasMore: Bool { !waiting.isEmpty || !unanswered.isEmpty }

  /// Epoch milliseconds by Redis's clock.
  var nowMs: Int64 { clock.at(loop.nowNs) }

  /// - Parameter isFull: whether plain accepts are recorded, too.
  func trace(app: String, job: String, isFull: Bool) -> JobTrace {
    JobTrace(app: app, job: job, isFull: isFull, carrier: self)
  }

  /// A trace has something to tell.
  func note(_ trace: JobTrace) {
    waiting.append(trace)
    if !timer.isArmed { timer.schedule(afterMs: WorkerLimits.traceFlushMs) }
  }

  /// Sends what was recorded.
  /// - Parameter isLast: also what is told only now and then.
  func flush(isLast: Bool = false) {
    sendAgain()
    guard !waiting.isEmpty else { return }
    let traces = waiting
    waiting.removeAll(keepingCapacity: true)
    for trace in traces {
      send(trace, isLast: isLast)
      if trace.staysWaiting() { waiting.append(trace) }
    }
  }

  /// Sends a batch of one trace, if Redis takes it.
  func send(_ trace: JobTrace, isLast: Bool) {
    guard store.isReady, outstanding < WorkerLimits.traceBatchesMax,
      let batch = trace.take(nowNs: loop.nowNs, isLast: isLast)
    else { return }
    lastNumber += 1
    send(
      Batch(trace: trace, lines: batch.lines, count: batch.count, number: lastNumber),
      isAgain: false)
  }

  private func send(_ batch: Batch, isAgain: Bool) {
    outstanding += 1
    store.append(
      app: batch.trace.app, job: batch.trace.job, by: by, lines: batch.lines, count: batch.count,
      number: batch.number, isAgain: isAgain
    ) { [self] result in
      outstanding -= 1
      if case .failure(let error) = result { noteFailure(error, batch) }
      if outstanding == 0 { drained.raise() }
    }
  }

  /// Keeps a batch that was lost with its connection, and drops one that Redis refuses.
  private func noteFailure(_ error: RedisError, _ batch: Batch) {
    if case .server = error { return batch.trace.noteLost(batch.count) }
    guard unanswered.count < WorkerLimits.traceBatchesMax else {
      return batch.trace.noteLost(batch.count)
    }
    unanswered.append(batch)
    if !timer.isArmed { timer.schedule(afterMs: WorkerLimits.traceFlushMs) }
  }

  private func sendAgain() {
    guard !unanswered.isEmpty, store.isReady else { return }
    let batches = unanswered
    unanswered.removeAll()
    for batch in batches { send(batch, isAgain: true) }
  }

  /// Sends everything and waits for Redis' answers, as long as a command may take.
  func finish() async {
    timer.cancel()
    flush(isLast: true)
    while outstanding > 0 {
      guard await drained.wait(upToMs: WorkerLimits.traceFinishMs) else { break }
    }
    waiting.removeAll()
  }
}
