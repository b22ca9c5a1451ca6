/// Holds of single jobs at a destination, on one lane: the network refuses their pushes because of how the app is set up, whatever
/// it says of other jobs. A key may lack the topic of one push type, and Firebase the key of iPhones.
struct JobHolds {
  /// Jobs that are watched at a time; a further one takes the place of the one that was refused longest ago, and of a held one
  /// last.
  static let jobsMax = 64
  /// How long a few refusals of a job are remembered.
  static let lifeNs: UInt64 = 300_000_000_000
  /// How long after a refusal a job counts as held: three times as long as between two tries.
  private static let currentNs: UInt64 = 120_000_000_000

  private var holds: [String: SetupHold] = [:]

  /// Whether nothing was refused. Looked at for each push.
  var isClean: Bool { holds.isEmpty }

  /// The held job that was refused last, not long ago.
  /// - Parameter isProven: as in `heldMs`.
  func current(isProven: Bool, nowNs: UInt64) -> (job: String, reason: String)? {
    let last = holds.filter { $0.value.isHolding && ($0.value.isSure || !isProven) }
      .max { $0.value.refusedNs < $1.value.refusedNs }
    guard let last, nowNs &- last.value.refusedNs < Self.currentNs else { return nil }
    return (last.key, last.value.reason)
  }

  /// Whether anything of a job was refused since its last accept.
  func hasRefused(_ job: String) -> Bool { holds[job] != nil }

  /// - Parameter isSure: whether no token can be to blame for it.
  mutating func noteRefusal(
    of job: String, _ reason: String, isSure: Bool, nowNs: UInt64, elapsedNs: UInt64
  ) -> SetupHold.Consequence {
    if holds[job] == nil, holds.count >= Self.jobsMax,
      let oldest = holds.min(by: { Self.rank($0.value) < Self.rank($1.value) })
    {
      holds[oldest.key] = nil
    }
    return holds[job, default: SetupHold()].noteRefusal(
      reason, isSure: isSure, nowNs: nowNs, elapsedNs: elapsedNs)
  }

  /// Which of two makes room first.
  private static func rank(_ hold: SetupHold) -> (Int, UInt64) {
    (hold.isHolding ? 1 : 0, hold.refusedNs)
  }

  /// The network accepted a push of the job.
  mutating func noteAccept(of job: String) { holds[job] = nil }

  /// For how long a job's pushes wait now; nil when one may be sent.
  /// - Parameter isProven: whether the network has accepted anything. Then what may be of single tokens is.
  func heldMs(_ job: String, isProven: Bool, nowNs: UInt64) -> UInt64? {
    guard let hold = holds[job], hold.isHolding, hold.isSure || !isProven, nowNs < hold.untilNs
    else { return nil }
    // Whole seconds: those of a chunk come back together.
    return ((hold.untilNs - nowNs) / 1_000_000_000 + 1) * 1_000
  }

  /// Pushes of a job were sent.
  mutating func noteSent(_ job: String, nowNs: UInt64) { holds[job]?.noteTry(nowNs: nowNs) }

  /// Forgets refusals of long ago.
  mutating func forget(nowNs: UInt64) {
    guard !isClean else { return }
    holds = holds.filter { _, hold in
      nowNs &- hold.refusedNs < (hold.isHolding ? SetupHold.lifeNs : Self.lifeNs)
    }
  }
}
