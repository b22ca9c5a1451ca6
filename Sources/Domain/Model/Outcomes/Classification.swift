/// The meaning of the answer to one request, as its provider says it. An answer is a value, never a thrown error.
package enum Classification: Sendable, Equatable {
  /// The provider said yes, which is all that it tells: nothing is ever called delivered.
  case accepted
  /// The token is dead; `sinceMs` is when the provider last confirmed that (epoch milliseconds), if it said so.
  case invalidToken(reason: String, sinceMs: Int64?)
  /// The token is called bad, which a wrong environment or topic of ours explains as well: uninstalled
  /// only while few are.
  case doubtfulToken(reason: String)
  /// The message or configuration can never succeed for this device: no retry, no uninstall.
  case rejected(reason: String)
  /// Throttled or provider trouble; not sooner than `afterMs` milliseconds from now when given.
  case retry(afterMs: UInt64?, reason: String)
  /// The network did not give this answer: a proxy, a gateway or another server did. It says nothing of the push, which has
  /// not reached the network.
  case foreign(reason: String)
  /// Our credential is the problem: work parks, no attempt is burned.
  case authRefused(reason: String)
}
