/// How many pushes a second the fleet as a whole may begin of something.
package struct RateLimit: Sendable, Hashable {
  /// The name of what is limited, for instance `app:shop`; the same name is the same bucket.
  package let name: String
  package let perSecond: Double
  /// Whether it is for everything of an app, and not for one network.
  package let isOfApp: Bool
  /// How long it takes from a start to the full rate, when it must not be a step; 0 for at once.
  package let rampMs: UInt64

  package init(name: String, perSecond: Double, isOfApp: Bool = false, rampMs: UInt64 = 0) {
    self.name = name
    self.perSecond = perSecond
    self.isOfApp = isOfApp
    self.rampMs = rampMs
  }
}
