internal import Model

// What a network's answers come to that are no plain accepts.
extension PushRun {
  /// - Parameter isHurried: whether the push does not wait for others to come back with.
  func decideLater(
    _ index: Int, delayMs: UInt64, attempt: Int, isHurried: Bool = false,
    because cause: TraceCause? = nil
  ) {
    guard pushes[index].decision == .open else { return }
    held.details.delay(index, ms: delayMs, attempt: attempt, isHurried: isHurried)
    decide(index, .later, because: cause)
  }

  /// Decides that a push is for another worker, since this one has no credentials for its network in that environment.
  /// - Parameter attempt: how many it has had.
  func decideUnrouted(_ index: Int, for environment: PushEnvironment, attempt: Int) {
    guard pushes[index].decision == .open else { return }
    held.details.leave(index, for: environment, attempt: attempt)
    decide(index, .unrouted, because: .otherWorker)
  }

  func decideInvalid(_ index: Int, reason: String, sinceMs: Int64?) {
    guard pushes[index].decision == .open else { return }
    held.details.invalidate(index, reason: reason, sinceMs: sinceMs, isDoubtful: false)
    decide(index, .invalid)
  }

  /// Decides as `decideInvalid` does, but is told together with all others of the chunk: the store sees then whether
  /// they are too many.
  func decideDoubtful(_ index: Int, reason: String) {
    guard pushes[index].decision == .open else { return }
    held.details.invalidate(index, reason: reason, sinceMs: nil, isDoubtful: true)
    decide(index, .invalid)
  }

  /// Notes that a push was answered, however.
  func noteAnswer(_ index: Int) { news.tally(pushes[index], answers: 1) }

  /// Notes that the answer was a sign of tokens and configuration not fitting each other.
  func noteMisfit(_ index: Int) { news.tally(pushes[index], misfits: 1) }

  /// Takes back what its own environment answered, which is not the last word: another worker tries it in the other
  /// one.
  func discountMisfit(_ index: Int) { news.tally(pushes[index], answers: -1, misfits: -1) }
}
