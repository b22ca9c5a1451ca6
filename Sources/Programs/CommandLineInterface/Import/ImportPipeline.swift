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
    /// One for each shard that has a part of the batch.
    let answers: [(shard: ShardID, answer: Task<Result<Answer, RedisError>, Never>)]
  }

  /// The results of a batch.
  struct Answer: Sendable {
    var installed: ImportAnswer?
    /// Subscriptions that were news.
    var subscribed = 0

    fileprivate mutating func add(_ other: Answer) {
      subscribed += other.subscribed
      guard let more = other.installed else { return }
      installed?.add(more)
      installed = installed ?? more
    }
  }

  let session: RedisSession
  private var sent: [Sent] = []
  private var turn = ImportTurn()

  init(session: RedisSession) { self.session = session }

  var isEmpty: Bool { sent.isEmpty }
  var isFull: Bool { sent.count >= CommandLineLimits.importBatchesInFlight }

  /// - Throws: when a shard that has a part of it cannot be used at all.
  mutating func send(_ batch: ImportBatch) async throws(CommandFailure) {
    turn.advance()
    let turn = turn
    var answers: [(shard: ShardID, answer: Task<Result<Answer, RedisError>, Never>)] = []
    for (shard, part) in batch.parts(by: session.placement) {
      let answer = try await session.begin(in: shard) { store throws(RedisError) in
        var answer = Answer()
        if !part.installations.isEmpty {
          answer.installed = try await store.installations.importBatch(
            part.installations, turn: turn)
        }
        // In whatever order batches come to this: nobody unsubscribes here.
        if !part.subscriptions.isEmpty {
          answer.subscribed = try await store.audiences.subscribe(part.subscriptions)
        }
        return answer
      }
      answers.append((shard, answer))
    }
    sent.append(Sent(batch: batch, answers: answers))
  }

  /// Waits for the oldest batch; nil when none is on its way.
  /// - Throws: when it failed for good. Those behind it are then given up on.
  mutating func receive() async throws(CommandFailure) -> (ImportBatch, Answer)? {
    var attempt = 1
    while let oldest = sent.first {
      var whole = Answer()
      var failed: (shard: ShardID, error: RedisError)?
      for (shard, answer) in oldest.answers {
        switch await answer.value {
        case .success(let part): whole.add(part)
        // One that was overtaken is only sent again: any other reason says more.
        case .failure(let error) where failed?.error.isOvertaken ?? true: failed = (shard, error)
        case .failure: break
        }
      }
      guard let (shard, failure) = failed else {
        sent.removeFirst()
        return (oldest.batch, whole)
      }
      do throws(CommandFailure) {
        // One of the batches behind it was faster, as they can be when a function had to be loaded.
        if !failure.isOvertaken {
          try await session.waitToRepeat(
            in: shard, after: failure, attempt: attempt, about: oldest.batch.subjects)
        }
      } catch {
        sent = []
        throw error
      }
      attempt += 1
      try await sendAgain()
    }
    return nil
  }

  /// Sends all batches on their way once more, those included that came through behind the one that failed: it must
  /// not take effect after them.
  private mutating func sendAgain() async throws(CommandFailure) {
    for one in sent {
      for (_, answer) in one.answers { _ = await answer.value }
    }
    let batches = sent.map(\.batch)
    sent = []
    for batch in batches { try await send(batch) }
  }
}

extension RedisError {
  /// A batch of a later turn took effect first (`ImportTurn`).
  fileprivate var isOvertaken: Bool {
    if case .server("OVERTAKEN", _) = self { true } else { false }
  }
}
