internal import Model

/// Whether a job that is watched has moved of late.
struct Standstill {
  private var record: (isThere: Bool, settled: Int) = (false, 0)
  private var since = ContinuousClock.now
  private var explained: ContinuousClock.Instant?

  /// Whether it lasts so long that a healthy fleet would have done something.
  var isLong: Bool {
    ContinuousClock.now - since >= .milliseconds(OperationsLimits.standstillMs)
  }

  /// Notes what a look found. - Returns: whether it is time to say why nothing moves: of a job that no worker has taken at
  /// once, of another after a while, and again now and then.
  mutating func isToBeExplained(after sighting: JobSighting) -> Bool {
    let now = ContinuousClock.now
    let found = (isThere: sighting.record != nil, settled: sighting.record?.counts.settled ?? 0)
    if found != record {
      record = found
      since = now
    }
    let isHeld = sighting.record.map { $0.state == .paused || !$0.isAdmitted } ?? true
    guard isLong || isHeld else { return false }
    if let explained, now - explained < .milliseconds(OperationsLimits.explanationMs) {
      return false
    }
    explained = now
    return true
  }
}
