/// Where a job is in its life.
package enum JobState: String, Sendable, Hashable, CaseIterable {
  case queued, scheduled, running, paused, cancelled, done

  /// Nothing more happens to it.
  package var isFinal: Bool { self == .cancelled || self == .done }
}
