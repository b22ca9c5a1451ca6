internal import Reactor
internal import Store

/// One claimed chunk on a lane, from its claim to its final settlement; loop-bound.
final class ChunkRun {
  let run: PushRun
  /// When its lease was last renewed, in the loop's time.
  private(set) var renewedNs: UInt64
  /// The hold of the process' place for poison chunks; nil when it is none.
  let poisonTicket: UInt64?
  /// Nil when its job keeps to none.
  var pace: ChunkPace?

  init(_ run: PushRun, poisonTicket: UInt64? = nil) {
    self.run = run
    self.poisonTicket = poisonTicket
    renewedNs = run.loop.nowNs
    pace = run.claim.isPaced ? ChunkPace() : nil
  }

  var claim: ChunkClaim { run.claim }

  /// Notes that the lease was renewed just now.
  func noteRenewal() { renewedNs = run.loop.nowNs }

  /// Whether all that is left of the chunk is under way: nothing of it is to be read or sent.
  var onlyWaits: Bool {
    run.isResolved && !run.underway.isReading && run.inFlight > 0
      && run.openPushes == run.inFlight
  }

  /// Whether the chunk, lost and back again, still has this run's lines and not another worker's.
  func agrees(with claim: ChunkClaim) -> Bool {
    claim.recipients == self.claim.recipients + run.news.addedLines
      || claim.recipients == self.claim.recipients + run.news.confirmedLines
  }

  // MARK: Pace

  /// How long it waits until more of it may be resolved; nil when it does not.
  var paceWaitMs: UInt64? {
    guard run.wantsResolving, let pace, !pace.allows else { return nil }
    return max(1, pace.waitMs(nowNs: run.loop.nowNs))
  }

  /// Whether it is known that nothing more of it may be resolved for a while.
  var isHeldByPace: Bool {
    pace.map { !$0.allows && $0.waitMs(nowNs: run.loop.nowNs) > 0 } ?? false
  }
}
