internal import Providers

/// The credential of a destination: in use, refused by the network, or paused because there is none.
///
/// One refusal says little: behind a balancer one server in a hundred may refuse what all others accept. So a credential
/// is given up only when nothing is accepted any more, or nearly nothing. Answers that left together come in any order:
/// only a refusal of a request that was sent after the latest accept says that the credential may have ended.
struct Authorization {
  /// The meaning of one request's refusal for the credential.
  enum Refusal {
    /// Requests with the same credential were accepted after this one was sent: it was bad luck, or it is the push's own trouble.
    case isolated
    /// Nothing was accepted since: the next ones will tell.
    case doubted
    /// The credential is given up, or has been replaced since.
    case heeded
  }

  /// Refusals in a row, of requests that were sent after the latest accept, after which a credential is given up that nothing was
  /// accepted with yet. The last must be of a request that was sent after the first refusal came.
  static let unprovenRefusalsMax = 8
  /// Refusals in a row after which a credential that was good is given up.
  static let provenRefusalsMax = 32
  /// How many refusals an accept makes up for: so what over 90 % of the answers refuse is given up in the end.
  static let refusalsPerAccept = 9
  /// Refusals that no accept has made up for after which that is: some times what a destination has in flight, since of those the
  /// refusals may come one after the other.
  static let surplusMax = 10_000

  /// The credential that requests are authorised with; nil until it was obtained, when it was refused, and while it is
  /// paused.
  private(set) var credential: Credential?
  /// The credential that the network refused, until it was renewed.
  private(set) var refusal: (generation: UInt64, reason: String)?
  /// Until when it is paused, in the loop's time.
  private(set) var pausedUntilNs: UInt64 = 0
  /// Why it is paused.
  private(set) var pauseReason: String?
  /// Since when the credential is in use, in the loop's time.
  private var sinceNs: UInt64 = 0
  /// When the network accepted it last, in the loop's time; 0 for never.
  private var acceptedNs: UInt64 = 0
  /// Refusals in a row of requests that were sent after the latest accept, and when the first of them came.
  private var doubts = 0
  private var doubtedNs: UInt64 = 0
  /// Refusals that no accept has made up for.
  private var surplus = 0

  /// Requests are authorised with this credential from now on.
  /// - Returns: whether it is another than before.
  mutating func use(_ credential: Credential, nowNs: UInt64) -> Bool {
    if let old = self.credential, old.generation == credential.generation { return false }
    guard !isOver else { return false }
    self.credential = credential
    sinceNs = nowNs
    acceptedNs = 0
    doubts = 0
    surplus = 0
    refusal = nil
    pausedUntilNs = 0
    pauseReason = nil
    return true
  }

  /// The network accepted the credential that a request was sent with at that time.
  mutating func accept(sentNs: UInt64, nowNs: UInt64) {
    guard sentNs >= sinceNs else { return }
    acceptedNs = nowNs
    doubts = 0
    if surplus > 0 { surplus = max(0, surplus - Self.refusalsPerAccept) }
  }

  /// The network refused the credential that a request was sent with at that time. A refusal of one that has been
  /// replaced since says nothing.
  mutating func refuse(reason: String, sentNs: UInt64, nowNs: UInt64) -> Refusal {
    guard let generation = credential?.generation, refusal == nil, sentNs >= sinceNs else {
      return .heeded
    }
    surplus += 1
    let isIsolated = acceptedNs >= sentNs
    if !isIsolated {
      if doubts == 0 { doubtedNs = nowNs }
      doubts += 1
    }
    let doubtsMax = acceptedNs > 0 ? Self.provenRefusalsMax : Self.unprovenRefusalsMax
    guard doubts < doubtsMax || sentNs < doubtedNs, surplus < Self.surplusMax else {
      refusal = (generation, reason)
      credential = nil
      return .heeded
    }
    return isIsolated ? .isolated : .doubted
  }

  /// Whether there will never be a credential again.
  var isOver: Bool { pausedUntilNs == .max }

  /// There is never a credential again. What requests in flight say of the one that there was means nothing any more.
  mutating func end() {
    credential = nil
    refusal = nil
    pauseReason = nil
    pausedUntilNs = .max
  }

  /// There is no credential until then.
  mutating func pause(untilNs: UInt64, because reason: String?) {
    guard !isOver else { return }
    credential = nil
    refusal = nil
    pauseReason = reason
    pausedUntilNs = untilNs
  }
}
