internal import Reactor
internal import Redis
internal import Store

/// Takes in the jobs that take long, one after the other; loop-bound.
final class LargeIntake {
  private let loop: EventLoop
  private let admitter: Admitter
  private let life: LaneLife
  private let reasons: ReasonLog
  /// When free memory was last given back.
  private var returnedNs: UInt64 = 0

  init(loop: EventLoop, admitter: Admitter, life: LaneLife, reasons: ReasonLog) {
    self.loop = loop
    self.admitter = admitter
    self.life = life
    self.reasons = reasons
  }

  /// Returns once there will be no more.
  func run() async {
    while let entry = await admitter.large.next() {
      await admit(entry)
      await returnMemory(of: entry)
    }
  }

  private func admit(_ entry: JobEntry) async {
    while !life.isAborting {
      do throws(RedisError) {
        return try await admitter.admitLarge(entry)
      } catch {
        reasons.note(error, during: "taking jobs in")
        // What Redis refuses of this job is tried again when the lease has run out.
        if case .server = error, !error.isPassing { return }
        guard !life.isDraining else { return }
        await loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  private func returnMemory(of entry: JobEntry) async {
    let isTime = loop.nowNs &- returnedNs >= WorkerLimits.memoryReturnMs * 1_000_000
    guard isTime, entry.text.count > WorkerLimits.returnedBlockBytesMin else { return }
    returnedNs = loop.nowNs
    await PreparedJob.returnMemory()
  }
}
