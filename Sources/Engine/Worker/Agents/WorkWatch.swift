internal import Reactor
internal import Redis
internal import Store

/// Watches the streams for all lanes of the process, and wakes one for each entry that is added, as far as there are idle
/// ones. Each of these wakes another when it finds as much as it asked for.
final class WorkWatch: Agent {
  private let loop: EventLoop
  /// Of its own, since waiting for work blocks it.
  private let connection: RedisConnection
  private let signal: WorkSignal
  private let idle: IdleLanes
  private let reasons: ReasonLog
  /// When it last had somebody look also for what silent workers left.
  private var lookedNs: UInt64 = 0

  init(
    loop: EventLoop, connection: RedisConnection, prefix: String, idle: IdleLanes,
    reasons: ReasonLog
  ) {
    self.loop = loop
    self.connection = connection
    signal = WorkSignal(connection: connection, prefix: prefix)
    self.idle = idle
    self.reasons = reasons
  }

  func start() { connection.connect() }

  /// Ends the wait for work at once.
  func stop() { connection.close() }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      try await connection.waitUntilReady(timeoutMs: WorkerLimits.idleMsMax)
      if loop.nowNs &- lookedNs >= WorkerLimits.idleMsMax * 1_000_000 {
        // Also what silent workers left is looked for now and then, and what was there before.
        try await signal.pass()
        lookedNs = loop.nowNs
        idle.wake(.jobs, .longestIdle)
        idle.wake(.chunks, .longestIdle)
      }
      let news = try await signal.wait(maxMs: WorkerLimits.idleMsMax)
      let isJobAwaited = !news.hasJobs || idle.wake(.jobs)
      let isChunkAwaited = !news.hasChunks || idle.wake(.chunks)
      guard !isJobAwaited || !isChunkAwaited else { return 0 }
      // Whoever has time next looks by itself: of what is added meanwhile not each entry has to be told.
      await loop.sleep(ms: WorkerLimits.busyWatchMs)
      try await signal.pass()
      return 0
    } catch {
      lookedNs = 0
      reasons.note(error, during: "waiting for work")
      return WorkerLimits.redisPauseMs
    }
  }
}
