internal import Model

// Recipients that nothing is sent to.
extension PushRun {
  /// The recipient was never resolved and counts as skipped, as one: so it stood in the job's total.
  /// - Parameters:
  ///   - network: what it counts under; nil for a user, whose installations were not read.
  ///   - cause: why, for its trace.
  func skipRecipient(_ index: Int, network: Network? = nil, because cause: TraceCause) {
    noteRecipient(index, because: cause)
    news.skip(index, network: network)
    endUnsent(index)
  }

  /// The recipient has nothing that is in this round of the job, and counts in none of its figures.
  func leaveOutRecipient(_ index: Int) {
    news.leaveOut(index)
    endUnsent(index)
  }
}
