internal import Reactor
internal import Redis
internal import Store

/// Takes in the jobs that take long, one after the other; loop-bound.
final class LargeIntake {
  private let context: LaneContext
  private let admitter: Admitter
  /// When free memory was last given back.
  private var returnedNs: UInt64 = 0

  init(_ context: LaneContext, admitter: Admitter) {
    self.context = context
    self.admitter = admitter
  }

  /// Returns once there will be no more.
  func run() async {
    while let entry = await admitter.large.next() {
      await admit(entry)
      await returnMemory(of: entry)
    }
  }

  private func admit(_ entry: JobEntry) async {
    while !context.life.isAborting {
      do throws(RedisError) {
        return try await admitter.admitLarge(entry)
      } catch {
        context.reasons.note(error, during: "taking jobs in")
        // What Redis refuses of this job is tried again when the lease has run out.
        if case .server = error, !error.isPassing { return }
        guard !context.life.isDraining else { return }
        await context.loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  private func returnMemory(of entry: JobEntry) async {
    let isTime = context.loop.nowNs &- returnedNs >= WorkerLimits.memoryReturnMs * 1_000_000
    guard isTime, entry.text.count > WorkerLimits.returnedBlockBytesMin else { return }
    returnedNs = context.loop.nowNs
    await PreparedJob.returnMemory()
  }
}
