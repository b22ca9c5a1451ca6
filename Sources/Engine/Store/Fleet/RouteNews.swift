/// The news for a worker that says which routes it has.
package struct RouteNews: Sendable, Equatable {
  /// Whether something waits that this worker has a route for.
  package let hasWork: Bool
  package let isAnythingWaiting: Bool
  /// Whether the fleet has only just begun: which routes others have is not known yet.
  package let isGathering: Bool
  /// The configurations of the workers that live, or did so lately; its own among them.
  package let digests: [String]

  package init(hasWork: Bool, isAnythingWaiting: Bool, isGathering: Bool, digests: [String]) {
    self.hasWork = hasWork
    self.isAnythingWaiting = isAnythingWaiting
    self.isGathering = isGathering
    self.digests = digests
  }
}
