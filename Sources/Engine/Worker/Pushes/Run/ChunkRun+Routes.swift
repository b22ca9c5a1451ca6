internal import Model
internal import Store

// Pushes that this worker has no credentials for.
extension ChunkRun {
  /// Decides that a push is for another worker, since this one has no credentials for its network in that environment.
  /// - Parameter attempt: how many it has had.
  func decideUnrouted(_ index: Int, for environment: PushEnvironment, attempt: Int) {
    guard pushes[index].decision == .open else { return }
    details.leave(index, for: environment, attempt: attempt)
    decide(index, .unrouted, because: .otherWorker)
  }

  /// Records the pushes that waited for other workers' credentials and were skipped, as none has them.
  func noteSkipped(_ settlement: Settlement, _ answer: SettleAnswer) {
    guard let trace, !answer.skipped.isEmpty else { return }
    for unrouted in settlement.unrouted where answer.skipped.contains(unrouted.place) {
      unrouted.lines.withUnsafeBytes { bytes in
        for text in SegmentLines(bytes) {
          guard let installation = InstallationLine(text) else { continue }
          var line = JobTrace.line(.decided)
          line.network = installation.network
          line.token = installation.token
          line.user = installation.user
          line.attempt = installation.attempt + 1
          line.decision = .skipped
          line.cause = .noCredentials
          trace.record(line)
        }
      }
    }
  }
}
