import HTTP2
import Model
import Reactor
import Redis
import Testing

@testable import Store
@testable import Worker

/// What runs record, on a lane whose Redis is away.
@Suite struct JobTraceTests {
  private let loop: EventLoop
  private let tracer: Tracer

  init() throws {
    loop = try EventLoop(name: "test")
    let connection = try RedisConnection(
      loop: loop, endpoint: RedisEndpoint(endpoint: .unix(path: "/nowhere")))
    tracer = Tracer(
      loop: loop, store: ShardStore(connection: connection, prefix: "p").traces, by: "w-0",
      clock: FleetClock())
  }

  private func trace(isFull: Bool = false) -> JobTrace {
    tracer.trace(app: "shop", job: "sale", isFull: isFull)
  }

  private func events(_ trace: JobTrace, isLast: Bool = true) -> [TraceEvent] {
    let taken = trace.take(nowNs: 0, isLast: isLast)
    return (taken?.lines ?? []).withUnsafeBytes { bytes in
      SegmentLines(bytes).map { TraceEvent($0)! }
    }
  }

  @Test("a plain accept leaves nothing; every other end leaves its cause")
  func recordsEnds() throws {
    let trace = trace()
    let run = try Claims.run(["a", "b", "c"], trace: trace)
    _ = run.takeBatch(max: 3)
    let pushes = run.resolve(0, devices: 4)
    run.decide(pushes[0], .accepted)
    run.decide(pushes[1], .skipped, because: .rebound)
    run.decideLater(pushes[2], delayMs: 300, attempt: 1)
    run.decideLater(pushes[3], delayMs: 300, attempt: 0, because: .parked)
    _ = run.resolve(1, devices: 0)
    run.skipRecipient(2, because: .cancelled)
    let events = events(trace)
    #expect(events.map(\.token) == ["token-0-1", "token-0-2", "token-0-3", "", ""])
    #expect(events.map(\.user) == ["a", "a", "a", "b", "c"])
    #expect(events.map(\.decision) == [.skipped, .retry, .deferred, .skipped, .skipped])
    #expect(events.map(\.cause) == [.rebound, nil, .parked, .noInstallation, .cancelled])
    #expect(events[1].delayMs == 500)
    #expect(events.allSatisfy { $0.kind == .decided })
    #expect(self.events(trace).isEmpty)
  }

  @Test(
    "an accept is recorded of what was resent or put aside before, and of a job that asks for all")
  func recordsAccepts() throws {
    let resent = trace()
    let run = try Claims.run(["a"], trace: resent)
    _ = run.takeBatch(max: 1)
    let pushes = run.resolve(0, devices: 2)
    _ = run.noteResend(pushes[1])
    for push in pushes { run.decide(push, .accepted) }
    #expect(events(resent).map(\.token) == ["token-0-1"])

    for (segment, isFull) in [("r1", false), ("1", true)] {
      let trace = trace(isFull: isFull)
      let run = try Claims.run(["a"], segment: segment, trace: trace)
      _ = run.takeBatch(max: 1)
      run.noteSent(run.resolve(0, devices: 1)[0])
      run.decide(0, .accepted)
      #expect(events(trace).map(\.kind) == (isFull ? [.sent, .decided] : [.decided]))
    }
  }

  @Test(
    "what is alike is recorded so often, then counted by what it was; less often when its push goes on or ends well",
    arguments: [
      (TraceDecision.skipped, WorkerLimits.tracedAlikeMax),
      (.failed, WorkerLimits.tracedAlikeMax),
      (.retry, WorkerLimits.tracedUnderwayMax),
      (.deferred, WorkerLimits.tracedUnderwayMax),
      (.resend, WorkerLimits.tracedUnderwayMax),
      (.accepted, WorkerLimits.tracedAcceptsMax),
    ])
  func countsWhatIsAlike(_ decision: TraceDecision, _ recordedMax: Int) throws {
    let trace = trace()
    var line = JobTrace.line(.decided)
    line.decision = decision
    line.cause = .noInstallation
    var recorded = 0
    for _ in 0..<(recordedMax + 25) {
      trace.record(line)
      // As if Redis took each batch.
      if trace.isBatchFull { recorded += events(trace, isLast: false).count }
    }
    line.cause = .rebound
    trace.record(line)
    let rest = events(trace)
    #expect(recorded + rest.count == recordedMax + 2)
    let omitted = try #require(rest.last)
    #expect(omitted.kind == .omitted)
    #expect(omitted.count == 25)
    #expect(omitted.cause == .noInstallation)
    #expect(omitted.decision == decision)
    #expect(!trace.staysWaiting())
  }

  @Test("a trace waits while a run of its job in the lane's hands is still to tell its last")
  func knowsTheLastRun() throws {
    let runs = RunTable()
    let trace = trace()
    let first = try Claims.run(["a"], trace: trace, slot: 0)
    let second = try Claims.run(["b"], trace: trace, slot: 1)
    let other = try Claims.run(["c"], trace: self.trace(), slot: 2)
    for run in [first, second, other] { runs.add(run) }
    first.finishTrace()
    #expect(trace.hasRuns)
    // Told, and told again after a lost reply, it has left once.
    first.finishTrace()
    runs.remove(first)
    #expect(trace.hasRuns)
    second.finishTrace()
    #expect(!trace.hasRuns)
    for standing in [PushRun.Standing.stale, .cancelled] {
      let third = try Claims.run(["d"], trace: trace, slot: 3)
      runs.add(third)
      #expect(trace.hasRuns)
      third.change(to: standing)
      #expect(trace.hasRuns == (standing == .cancelled))
      runs.remove(third)
      #expect(!trace.hasRuns)
    }
  }

  @Test(
    "while Redis is away no more than its buffer is kept, and the number of lost events is told")
  func dropsWithoutRedis() throws {
    let trace = trace(isFull: true)
    let count = 5_000
    for _ in 0..<count { trace.record(JobTrace.line(.sent)) }
    tracer.flush()
    #expect(trace.staysWaiting())
    let taken = try #require(trace.take(nowNs: 0, isLast: false))
    #expect(taken.lines.count < WorkerLimits.traceBufferBytesMax + 1_024)
    let kept = taken.lines.withUnsafeBytes { SegmentLines($0).map { TraceEvent($0)! } }
    let lost = try #require(kept.last)
    #expect(lost.kind == .omitted)
    #expect(lost.cause == .notTaken)
    #expect(lost.count + kept.count - 1 == count)
    #expect(taken.count == kept.count)
    trace.noteLost(taken.count)
    #expect(events(trace).first?.count == taken.count)
  }

  @Test("what the store did about each token is recorded, and nothing when it is not known")
  func recordsFates() throws {
    func decisions(after fates: TokenFate...) throws -> [TraceDecision?] {
      let trace = trace()
      let run = try Claims.run(["a"], trace: trace)
      _ = run.takeBatch(max: 1)
      for push in run.resolve(0, devices: 2) {
        run.decideInvalid(push, reason: "Unregistered", sinceMs: nil)
      }
      let news = run.takeNews(isFinal: true)
      _ = events(trace)
      run.trace.noteFates(
        news,
        SettleAnswer(
          standing: .ok, uninstalled: fates.count { $0 == .removed },
          kept: fates.count { $0 == .kept }, spared: fates.count { $0 == .spared },
          fates: fates))
      let events = events(trace)
      #expect(events.allSatisfy { $0.kind == .settled && $0.reason == "Unregistered" })
      return events.map(\.decision)
    }
    #expect(try decisions(after: .removed, .removed) == [.uninstalled, .uninstalled])
    #expect(try decisions(after: .kept, .removed) == [.kept, .uninstalled])
    #expect(try decisions(after: .removed, .spared) == [.uninstalled, .kept])
    #expect(try decisions().isEmpty)
  }
}
