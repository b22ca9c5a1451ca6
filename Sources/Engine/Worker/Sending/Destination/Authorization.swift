internal import Providers

/// The credential of a destination: in use, refused by the network, or paused because there is none.
///
/// One refusal says little: behind a balancer one server in a hundred may refuse what all others accept. So refusals
/// are weighed against accepts, and only a credential that nearly all of them refuse is given up.
struct Authorization {
  /// What the refusal of one request means.
  enum Refusal {
    /// Requests with the same credential were accepted after this one was sent: it was bad luck, or it is the push's own trouble.
    case isolated
    /// Nothing was accepted since: the next ones will tell.
    case doubted
    /// The credential is given up, or has been replaced since.
    case heeded
  }

  /// Refusals with no accept among them after which a credential is given up that nothing was accepted with yet.
  static let unprovenRefusalsMax = 8
  /// The same of one that was good. It would be reached by chance once in billions of answers, did half of them refuse.
  static let provenRefusalsMax = 32
  /// How many refusals an accept makes up for: so only what over 90 % of the answers refuse is given up.
  static let refusalsPerAccept = 9

  /// What requests are authorised with; nil until it was obtained, when it was refused, and while it is paused.
  private(set) var credential: Credential?
  /// The credential that the network refused, until it was renewed.
  private(set) var refusal: (generation: UInt64, reason: String)?
  /// Until when it is paused, in the loop's time.
  private(set) var pausedUntilNs: UInt64 = 0
  /// Since when the credential is in use, in the loop's time.
  private var sinceNs: UInt64 = 0
  /// When the network accepted it last, in the loop's time; 0 for never.
  private var acceptedNs: UInt64 = 0
  /// Refusals that no accept has made up for.
  private var doubts = 0

  /// Requests are authorised with this credential from now on.
  /// - Returns: whether it is another than before.
  mutating func use(_ credential: Credential, nowNs: UInt64) -> Bool {
    if let old = self.credential, old.generation == credential.generation { return false }
    self.credential = credential
    sinceNs = nowNs
    acceptedNs = 0
    doubts = 0
    refusal = nil
    pausedUntilNs = 0
    return true
  }

  /// The network accepted the credential that a request was sent with at that time.
  mutating func accept(sentNs: UInt64, nowNs: UInt64) {
    guard sentNs >= sinceNs else { return }
    acceptedNs = nowNs
    if doubts > 0 { doubts = max(0, doubts - Self.refusalsPerAccept) }
  }

  /// The network refused the credential that a request was sent with at that time. A refusal of one that has been
  /// replaced since says nothing.
  mutating func refuse(reason: String, sentNs: UInt64) -> Refusal {
    guard let generation = credential?.generation, refusal == nil, sentNs >= sinceNs else {
      return .heeded
    }
    doubts += 1
    let isProven = acceptedNs > 0
    guard doubts < (isProven ? Self.provenRefusalsMax : Self.unprovenRefusalsMax) else {
      refusal = (generation, reason)
      credential = nil
      return .heeded
    }
    return acceptedNs > sentNs ? .isolated : .doubted
  }

  /// There is no credential until then.
  mutating func pause(untilNs: UInt64) {
    credential = nil
    refusal = nil
    pausedUntilNs = untilNs
  }
}
