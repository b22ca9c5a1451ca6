internal import HTTP2
internal import Providers
internal import Reactor

// The credential. Only this file writes what is known of it.
extension Destination {
  /// The credential that requests are authorised with; nil until it was obtained, and while it is paused.
  var credential: Credential? { authorization.credential }
  /// The credential that the network refused, until it was renewed.
  var refusal: (generation: UInt64, reason: String)? { authorization.refusal }

  /// Sends with this credential from now on.
  func use(_ credential: Credential) {
    if authorization.use(credential, nowNs: loop.nowNs) { wake() }
  }

  /// The network accepted the credential that a request was sent with, so long ago.
  func credentialAccepted(sentNsAgo: UInt64) {
    let nowNs = loop.nowNs
    authorization.accept(sentNs: nowNs &- sentNsAgo, nowNs: nowNs)
  }

  /// The network refused the credential that a request was sent with, so long ago.
  func credentialRefused(reason: String, sentNsAgo: UInt64) -> Authorization.Refusal {
    reports.sign = .trouble
    let hadCredential = credential != nil
    let nowNs = loop.nowNs
    let meaning = authorization.refuse(
      reason: reason, sentNs: nowNs &- sentNsAgo, nowNs: nowNs)
    if hadCredential, credential == nil { credentialSignal.raise() }
    return meaning
  }

  /// There is no credential until then: nothing is sent, and nothing waits here.
  /// - Parameter reason: for operators.
  func pause(forMs delayMs: UInt64, because reason: String? = nil) {
    authorization.pause(untilNs: loop.nowNs &+ delayMs &* 1_000_000, because: reason)
    checkReachable()
  }
}
