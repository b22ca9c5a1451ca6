internal import Logging
internal import Reactor
internal import Redis
internal import Store

/// Renews the leases of chunks that had nothing to settle, and learns what became of their jobs: each so often, and as soon
/// as Redis can be asked again.
final class LeaseKeeper: Agent {
  private let loop: EventLoop
  private let chunks: ChunkQueue
  private let runs: RunTable
  private let consumer: String
  private let everyMs: UInt64
  private let log: Logger
  private let onStanding: (WorkStanding, PushRun) -> Void

  /// - Parameter onStanding: called with what the store says of a run.
  init(
    loop: EventLoop, chunks: ChunkQueue, runs: RunTable, consumer: String, leaseMs: UInt64,
    log: Logger, onStanding: @escaping (WorkStanding, PushRun) -> Void
  ) {
    self.loop = loop
    self.chunks = chunks
    self.runs = runs
    self.consumer = consumer
    everyMs = min(leaseMs / 4, WorkerLimits.chunkBeatMs)
    self.log = log
    self.onStanding = onStanding
  }

  func turn() async -> UInt64 {
    let due = runs.claimed.filter {
      // A quarter, because one that was renewed just after a look would otherwise be passed over at the next.
      $0.run.standing != .stale && loop.nowNs &- $0.renewedNs >= everyMs * 250_000
    }
    for first in stride(from: 0, to: due.count, by: WorkerLimits.renewedMax) {
      await renew(Array(due[first..<min(first + WorkerLimits.renewedMax, due.count)]))
    }
    return max(1, everyMs)
  }

  /// Renews the leases of these runs now.
  func renew(_ due: [ChunkRun]) async {
    do throws(RedisError) {
      let standings = try await chunks.heartbeat(due.map(\.claim), consumer: consumer)
      for (chunk, standing) in zip(due, standings) {
        // A final settlement may have ended the run in between.
        guard runs[chunk.run.slot] === chunk.run, !chunk.run.isFinished else { continue }
        chunk.noteRenewal()
        onStanding(standing, chunk.run)
      }
    } catch { log.debug("heartbeat: \(error)") }
  }
}
