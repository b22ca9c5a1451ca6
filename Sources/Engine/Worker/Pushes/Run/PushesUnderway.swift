/// The pushes of a run that have no decision, from when they are made; loop-bound.
struct PushesUnderway {
  /// All of them: queued, or in flight.
  private(set) var openPushes = 0
  /// All that were made to be sent.
  private(set) var made = 0
  /// Whether bindings are being read, which become pushes.
  var isReading = false
  /// Submitted and not answered.
  private(set) var inFlight = 0
  /// Pushes whose bindings must be read again before they are sent.
  private(set) var staleBindings: [Int] = []
  /// The pushes that may be what the network calls malformed.
  private(set) var quarantined = QuarantinedPushes()

  mutating func open() { openPushes += 1 }
  mutating func close() { openPushes -= 1 }

  mutating func make() { made += 1 }

  mutating func submit() { inFlight += 1 }
  mutating func comeBack() { inFlight -= 1 }

  mutating func keepStale(_ push: Int) { staleBindings.append(push) }
  mutating func keepStale(_ pushes: [Int]) { staleBindings += pushes }

  mutating func takeStale() -> [Int] {
    defer { staleBindings = [] }
    return staleBindings
  }

  mutating func quarantine(_ push: Int, nowNs: UInt64) { quarantined.note(push, nowNs: nowNs) }
  mutating func noteMalformed(_ push: Int, _ complaint: Quarantine.Complaint, nowNs: UInt64) {
    quarantined.noteMalformed(push, complaint, nowNs: nowNs)
  }
  mutating func setApart(_ push: Int) { quarantined.noteApart(push) }
}
