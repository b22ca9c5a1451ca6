/// Holds of one job's pushes, on one lane, by the number of their destination: the network refuses them because of how the app
/// is set up, whatever it says of other jobs. A key may lack the topic of one push type, and Firebase the key of iPhones.
struct JobHolds {
  private var holds: [Int: SetupHold] = [:]

  /// Whether nothing was refused. Looked at for each push.
  var isClean: Bool { holds.isEmpty }

  /// Whether anything was refused there since the last accept.
  func hasRefusals(at destination: Int) -> Bool { holds[destination] != nil }

  /// - Parameter isSure: whether no token can be to blame for it.
  mutating func noteRefusal(
    at destination: Int, _ reason: String, isSure: Bool, nowNs: UInt64, elapsedNs: UInt64
  ) -> SetupHold.Consequence {
    holds[destination, default: SetupHold()].noteRefusal(
      reason, isSure: isSure, nowNs: nowNs, elapsedNs: elapsedNs)
  }

  /// The network accepted a push of the job.
  mutating func noteAccept(at destination: Int) { holds[destination] = nil }

  /// For how long a push waits now; nil when it may be sent.
  /// - Parameter isProven: whether the network accepts other jobs. Then what may be of single tokens is.
  func heldMs(at destination: Int, isProven: Bool, nowNs: UInt64) -> UInt64? {
    guard let hold = holds[destination], hold.isHolding, hold.isSure || !isProven,
      nowNs < hold.untilNs
    else { return nil }
    // Whole seconds: those of a chunk come back together.
    return ((hold.untilNs - nowNs) / 1_000_000_000 + 1) * 1_000
  }

  /// A push is sent that does not wait.
  mutating func noteSent(at destination: Int, nowNs: UInt64) {
    holds[destination]?.noteTry(nowNs: nowNs)
  }
}
