internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Store

/// Pushes whose requests a network calls malformed. It is the push's trouble, or its job's, when that happens again and again
/// while others are answered: they are tried apart from others, then rejected; loop-bound.
final class Isolation {
  private let loop: EventLoop
  private let runs: RunTable
  private let rescheduling: Rescheduling
  private let reasons: ReasonLog

  init(loop: EventLoop, runs: RunTable, rescheduling: Rescheduling, reasons: ReasonLog) {
    self.loop = loop
    self.runs = runs
    self.rescheduling = rescheduling
    self.reasons = reasons
  }

  /// Sees to a push whose job, or which itself, is in quarantine.
  /// - Returns: false when it may go with all others.
  func setApart(_ run: PushRun, _ index: Int, _ destination: Destination) -> Bool {
    let push = run.pushes[index]
    let job = run.claim.job
    guard
      run.quarantined.isSuspect(index)
        || destination.quarantine.holds(
          job, isRepeated: push.attempt > 1 || run.quarantined.contains(index), nowNs: loop.nowNs)
    else { return false }
    if destination.quarantine.isCondemned(job, answeredNs: destination.answeredNs),
      !run.material.verdicts.isAccepted(by: destination.network)
    {
      reject(run, index, destination)
    } else if destination.enqueueApart(
      PushTag(run, push: index).raw, rank: run.claim.priority.rank)
    {
      run.noteApart(index)
    } else {
      rescheduling.putAside(
        run, index, delayMs: WorkerLimits.refusedDelayMs, because: .triedApart)
    }
    return true
  }

  /// The network called this request malformed, and did not process it: it is tried again, at first among others, since
  /// that may happen to any request, then apart from them. It is rejected when it fails there again and again while the
  /// network answers others.
  /// - Parameters:
  ///   - quarantinedNs: since when it has been in quarantine; nil when it was not.
  ///   - complaint: what the network did to it.
  /// - Returns: whether it is decided; otherwise it is to be queued again.
  func decideMalformed(
    _ run: PushRun, _ index: Int, _ destination: Destination, quarantinedNs: UInt64?,
    _ complaint: Quarantine.Complaint
  ) -> Bool {
    let sinceNs = [quarantinedNs, destination.quarantine.sinceNs(run.claim.job)]
      .compactMap { $0 }.min()
    run.noteMalformed(index, complaint, nowNs: loop.nowNs)
    guard complaint.refusals > 0, let sinceNs, run.quarantined.isCondemned(index) else {
      return false
    }
    let isWell = destination.answeredNs.map { $0 >= sinceNs } ?? false
    if isWell || rescheduling.isLastAttempt(run, index) {
      reject(run, index, destination)
    } else {
      rescheduling.retry(run, index, afterMs: nil)
    }
    return true
  }

  /// The network closed a connection because of one of its requests, and this may be the one.
  func noteAccused(_ run: PushRun, _ index: Int, _ destination: Destination) {
    run.quarantine(index, nowNs: loop.nowNs)
    note(.accusedWithOthers, ofJob: run.claim.job, destination)
  }

  /// The network did that to a request of a job.
  func note(
    _ complaint: Quarantine.Complaint, ofJob job: String, _ destination: Destination
  ) {
    guard destination.note(complaint, ofJob: job) else { return }
    // What waits of it would break the next connection.
    destination.takeOut { raw in
      let tag = PushTag(raw)
      guard let run = runs[tag], run.claim.job == job else { return false }
      return setApart(run, tag.push, destination)
    }
  }

  private func reject(_ run: PushRun, _ index: Int, _ destination: Destination) {
    reasons.note(
      "\(run.claim.app): \(destination.provider.network.rawValue) calls requests of job \(run.claim.job) "
        + "malformed (\(ConnectionTrouble.malformed)) and answers others: they are rejected; look at what the job puts "
        + "into headers and payload", level: .error)
    run.decide(index, .rejected, because: .malformedRequest)
  }
}
