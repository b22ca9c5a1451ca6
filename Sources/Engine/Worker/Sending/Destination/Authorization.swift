internal import Providers

/// The credential of a destination: in use, refused by the network, or paused because there is none.
struct Authorization {
  /// What requests are authorised with; nil until it was obtained, when it was refused, and while it is paused.
  private(set) var credential: Credential?
  /// The credential that the network refused, until it was renewed.
  private(set) var refusal: (generation: UInt64, reason: String)?
  /// Until when it is paused, in the loop's time.
  private(set) var pausedUntilNs: UInt64 = 0
  /// Since when the credential is in use, in the loop's time.
  private var sinceNs: UInt64 = 0

  /// Requests are authorised with this credential from now on.
  /// - Returns: whether it is another than before.
  mutating func use(_ credential: Credential, nowNs: UInt64) -> Bool {
    if let old = self.credential, old.generation == credential.generation { return false }
    self.credential = credential
    sinceNs = nowNs
    refusal = nil
    pausedUntilNs = 0
    return true
  }

  /// The network refused the credential that a request was sent with at that time. A refusal of one that has been
  /// replaced since says nothing.
  /// - Returns: whether there is no credential now that was there before.
  mutating func refuse(reason: String, sentNs: UInt64) -> Bool {
    guard let generation = credential?.generation, refusal == nil, sentNs >= sinceNs else {
      return false
    }
    refusal = (generation, reason)
    credential = nil
    return true
  }

  /// There is no credential until then.
  mutating func pause(untilNs: UInt64) {
    credential = nil
    refusal = nil
    pausedUntilNs = untilNs
  }
}
