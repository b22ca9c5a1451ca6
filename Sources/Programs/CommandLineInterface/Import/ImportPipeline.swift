internal import Model
internal import ProgramSetup
internal import Redis
internal import Store

/// Sends batches without waiting for one another's answers, a bounded number of them, and takes the answers in
/// the order of the batches. They take effect in that order as well, also when some must be sent again: the last
/// line of a token decides whose it is.
struct ImportPipeline {
  private struct Sent {
    let batch: ImportBatch
    let answer: Task<Result<Answer, RedisError>, Never>
  }

  /// The results of a batch.
  struct Answer: Sendable {
    var installed: ImportAnswer?
    /// Subscriptions that were news.
    var subscribed = 0
  }

  let session: RedisSession
  private var sent: [Sent] = []
  private var turn = ImportTurn()

  init(session: RedisSession) { self.session = session }

  var isEmpty: Bool { sent.isEmpty }
  var isFull: Bool { sent.count >= CommandLineLimits.importBatchesInFlight }

  mutating func send(_ batch: ImportBatch) async {
    turn.advance()
    let turn = turn
    let answer = await session.begin { store throws(RedisError) in
      var answer = Answer()
      if !batch.installations.isEmpty {
        answer.installed = try await store.installations.importBatch(
          batch.installations, turn: turn)
      }
      // In whatever order batches come to this: nobody unsubscribes here.
      if !batch.subscriptions.isEmpty {
        answer.subscribed = try await store.audiences.subscribe(batch.subscriptions)
      }
      return answer
    }
    sent.append(Sent(batch: batch, answer: answer))
  }

  /// Waits for the oldest batch; nil when none is on its way.
  /// - Throws: when it failed for good. Those behind it are then given up on.
  mutating func receive() async throws(CommandFailure) -> (ImportBatch, Answer)? {
    var attempt = 1
    while let oldest = sent.first {
      let failure: RedisError
      switch await oldest.answer.value {
      case .success(let answer):
        sent.removeFirst()
        return (oldest.batch, answer)
      case .failure(let error): failure = error
      }
      do throws(CommandFailure) {
        // One of the batches behind it was faster, as they can be when a function had to be loaded.
        if !failure.isOvertaken {
          try await session.waitToRepeat(
            after: failure, attempt: attempt, about: oldest.batch.subjects)
        }
      } catch {
        sent = []
        throw error
      }
      attempt += 1
      await sendAgain()
    }
    return nil
  }

  /// Sends all batches on their way once more, those included that came through behind the one that failed: it must
  /// not take effect after them.
  private mutating func sendAgain() async {
    for one in sent { _ = await one.answer.value }
    let batches = sent.map(\.batch)
    sent = []
    for batch in batches { await send(batch) }
  }
}

extension RedisError {
  /// A batch of a later turn took effect first (`ImportTurn`).
  fileprivate var isOvertaken: Bool {
    if case .server("OVERTAKEN", _) = self { true } else { false }
  }
}
