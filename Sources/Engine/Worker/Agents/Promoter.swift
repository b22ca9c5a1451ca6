internal import Logging
internal import Redis
internal import Store

/// Moves delayed chunks to their streams when their time has come, or waits for the worker that does to fall silent.
final class Promoter: Agent {
  private let chunks: ChunkQueue
  private let consumer: String
  private let log: Logger
  private let onMoved: () -> Void

  /// - Parameter onMoved: called when chunks were moved, which can be claimed now.
  init(chunks: ChunkQueue, consumer: String, log: Logger, onMoved: @escaping () -> Void) {
    self.chunks = chunks
    self.consumer = consumer
    self.log = log
    self.onMoved = onMoved
  }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      let moved = try await chunks.promote(max: WorkerLimits.promotionsMax, as: consumer)
      if moved.taken > 0 { onMoved() }
      guard let nextDueMs = moved.nextDueMs else { return WorkerLimits.promoteMsMax }
      return max(1, min(WorkerLimits.promoteMsMax, nextDueMs))
    } catch {
      log.debug("promote: \(error)")
      return WorkerLimits.promoteMsMax
    }
  }
}
