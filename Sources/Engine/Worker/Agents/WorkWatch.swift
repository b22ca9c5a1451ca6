internal import Reactor
internal import Redis
internal import Store

/// Watches the streams for the lanes of the process that have nothing to do, and wakes one for each entry that Redis tells
/// this process of. Each of these wakes another when it finds as much as it asked for. What comes soon after an entry is
/// left for a moment, so that one lane takes all of it: an entry each for many lanes costs Redis twice as much.
final class WorkWatch: Agent {
  private let loop: EventLoop
  /// A connection of its own, since waiting for work blocks it.
  private let connection: RedisConnection
  private let signal: WorkSignal
  private let idle: IdleLanes
  private let reasons: ReasonLog
  /// When it last had somebody look also for what silent workers left.
  private var lookedNs: UInt64 = 0
  /// The kinds of work that were waited for last. Of other kinds a busy lane may have taken entries of which nobody was
  /// told.
  private var watched: Set<WorkKind> = []
  private var passedNs: UInt64 = 0
  /// Whether a lane was woken by the last turn, and may have taken entries of which nobody was told.
  private var hasWoken = false

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
      if loop.nowNs &- lookedNs >= WorkerLimits.idleMsMax * 1_000_000 {
        // Also what silent workers left is looked for now and then, and what was there before; without this connection, too.
        lookedNs = loop.nowNs
        idle.wake(.jobs, .longestIdle)
        idle.wake(.chunks, .longestIdle)
        try await pass()
      }
      let kinds = idle.kinds
      guard !kinds.isEmpty else {
        watched = []
        return WorkerLimits.busyWatchMs
      }
      if hasWoken || !kinds.isSubset(of: watched),
        loop.nowNs &- passedNs >= WorkerLimits.passMs * 1_000_000
      {
        try await pass()
      }
      watched = kinds
      // While a kind has no idle lane it is not waited for, and soon one may be.
      let isForAll = kinds.count == WorkKind.allCases.count
      let signs = try await signal.wait(
        for: kinds, maxMs: isForAll ? WorkerLimits.idleMsMax : WorkerLimits.busyWatchMs)
      let vain = signs.filter { !idle.wake($0.kind) }
      if !vain.isEmpty { try await signal.pass(givingBack: vain) }
      hasWoken = signs.count > vain.count
      return hasWoken ? WorkerLimits.gatherMs : 0
    } catch {
      lookedNs = 0
      watched = []
      reasons.note(error, during: "waiting for work")
      return WorkerLimits.redisPauseMs
    }
  }

  private func pass() async throws(RedisError) {
    try await signal.pass()
    passedNs = loop.nowNs
  }
}
