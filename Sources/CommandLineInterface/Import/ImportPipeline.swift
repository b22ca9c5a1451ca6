internal import Model
internal import Redis
internal import Store

/// Sends batches without waiting for one another's answers, a bounded number of them, and takes the answers in
/// the order of the batches.
struct ImportPipeline {
  private struct Sent {
    let batch: ImportBatch
    let answer: Task<ImportAnswer, any Error>
  }

  let session: RedisSession
  private var sent: [Sent] = []

  init(session: RedisSession) { self.session = session }

  var isEmpty: Bool { sent.isEmpty }
  var isFull: Bool { sent.count >= CommandLineLimits.importBatchesInFlight }

  /// Installing is idempotent, so a batch whose answer was lost is sent again.
  mutating func send(_ batch: ImportBatch) {
    let session = session
    let installations = batch.installations
    let answer = Task {
      try await session.runRepeating { store throws(RedisError) in
        try await store.installations.importBatch(installations)
      }
    }
    sent.append(Sent(batch: batch, answer: answer))
  }

  /// Waits for the oldest batch.
  mutating func receive() async throws(CommandFailure) -> (ImportBatch, ImportAnswer)? {
    guard !sent.isEmpty else { return nil }
    let oldest = sent.removeFirst()
    do {
      return (oldest.batch, try await oldest.answer.value)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.internalError, "\(error)")
    }
  }
}
