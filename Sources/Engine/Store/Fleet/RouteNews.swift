/// What a worker learns when it says which routes it has.
package struct RouteNews: Sendable, Equatable {
  /// Whether something waits that this worker has a route for.
  package let hasWork: Bool
  package let isAnythingWaiting: Bool
  /// The configurations of the workers that live, or did so lately; its own among them.
  package let digests: [String]
}
