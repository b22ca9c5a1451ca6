/// How many requests a caller may send: so many a second, and so many at once.
struct RatePlan: Sendable, Equatable {
  /// The name that the field `ratelimit` has.
  let name: String
  /// The beginning of a sentence, for people.
  let words: String
  let perSecond: Double
  let burst: Double
  /// Whether callers for whom the table has no room share one rate; otherwise their requests are not counted. Whoever has
  /// shown nothing that was verified shares one: otherwise names could be made up until nobody is counted.
  var isShared = false

  /// After how many seconds a rate that was used up is whole again.
  var refillSeconds: Int { max(1, Int((burst / perSecond).rounded(.up))) }

  static let server = RatePlan(
    name: "server", words: "too many requests come with this key",
    perSecond: ServerLimits.serverKeyPerSecond, burst: ServerLimits.serverKeyBurst)
  static let operators = RatePlan(
    name: "operator", words: "too many requests come with this key",
    perSecond: ServerLimits.operatorKeyPerSecond, burst: ServerLimits.operatorKeyBurst)
  static let device = RatePlan(
    name: "device", words: "too many requests come from this user",
    perSecond: ServerLimits.devicePerSecond, burst: ServerLimits.deviceBurst)
  static let open = RatePlan(
    name: "open", words: "too many requests without a key come from this address",
    perSecond: ServerLimits.openPerSecond, burst: ServerLimits.openBurst, isShared: true)
  static let failures = RatePlan(
    name: "failures",
    words: "too many requests come from this address without a key that is known here",
    perSecond: ServerLimits.failurePerSecond, burst: ServerLimits.failureBurst, isShared: true)
  static let signIns = RatePlan(
    name: "sessions", words: "too many sessions are begun with this key",
    perSecond: ServerLimits.signInPerSecond, burst: ServerLimits.signInBurst)
}
