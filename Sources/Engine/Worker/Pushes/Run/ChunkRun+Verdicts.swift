internal import Model

// What a network's answers come to that are no plain accepts.
extension ChunkRun {
  /// - Parameter isHurried: whether the push does not wait for others to come back with.
  func decideLater(
    _ index: Int, delayMs: UInt64, attempt: Int, isHurried: Bool = false,
    because cause: TraceCause? = nil
  ) {
    guard pushes[index].decision == .open else { return }
    details.delay(index, ms: delayMs, attempt: attempt, isHurried: isHurried)
    decide(index, .later, because: cause)
  }

  func decideInvalid(_ index: Int, reason: String, sinceMs: Int64?) {
    guard pushes[index].decision == .open else { return }
    details.invalidate(index, reason: reason, sinceMs: sinceMs, isDoubtful: false)
    decide(index, .invalid)
  }

  /// Decides as `decideInvalid` does, but is told together with all others of the chunk: the store sees then whether
  /// they are too many.
  func decideDoubtful(_ index: Int, reason: String) {
    guard pushes[index].decision == .open else { return }
    details.invalidate(index, reason: reason, sinceMs: nil, isDoubtful: true)
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
