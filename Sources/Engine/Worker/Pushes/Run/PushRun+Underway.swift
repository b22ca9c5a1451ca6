internal import Reactor

// What the sending tells a run of its pushes.
extension PushRun {
  /// Pushes without a decision: queued, or in flight.
  var openPushes: Int { underway.openPushes }

  /// Pushes that were submitted and not answered.
  var inFlight: Int { underway.inFlight }

  /// A push was handed to a connection.
  func noteSubmitted(_ index: Int) {
    underway.submit()
    if trace.recordsAll { noteSent(index) }
  }

  /// A push came back, answered or not.
  func noteReturned() { underway.comeBack() }

  /// The random part of this run's retries of an attempt.
  func jitter(attempt: Int) -> UInt64 { held.details.jitter(attempt: attempt) }

  // MARK: Still to come

  /// A push was made that is to be sent.
  func noteMade() { underway.make() }

  /// How many pushes were made to be sent.
  var made: Int { underway.made }

  /// Bindings of its recipients are being read, or are read.
  func noteReading(_ isReading: Bool) { underway.isReading = isReading }

  /// Whether more of its recipients may become pushes.
  var mayBringMore: Bool { wantsResolving || underway.isReading }

  // MARK: In quarantine

  var quarantined: QuarantinedPushes { underway.quarantined }

  /// A push may be what the network calls malformed.
  func quarantine(_ index: Int, nowNs: UInt64) { underway.quarantine(index, nowNs: nowNs) }

  /// The network called a push malformed.
  func noteMalformed(_ index: Int, _ complaint: Quarantine.Complaint, nowNs: UInt64) {
    underway.noteMalformed(index, complaint, nowNs: nowNs)
  }

  /// A push is tried apart from others.
  func noteApart(_ index: Int) { underway.setApart(index) }

  // MARK: Old bindings

  /// Whether pushes wait for their bindings to be read again.
  var hasStaleBindings: Bool { !underway.staleBindings.isEmpty }

  /// The binding of a push was read too long ago to be sent to.
  func noteStaleBinding(_ index: Int) {
    underway.keepStale(index)
    wake()
  }

  /// Returns the pushes whose bindings are stale, to be read again or decided.
  func takeStaleBindings() -> [Int] { underway.takeStale() }

  /// Puts them back when reading failed.
  func keepStaleBindings(_ pushes: [Int]) { underway.keepStale(pushes) }
}
