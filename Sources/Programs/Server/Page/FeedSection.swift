package import Model

/// A part of what the dashboard shows. The feed sends a section as a whole when it has changed, so that the last event of a
/// section holds all that there is to know of it.
package enum FeedSection: String, CaseIterable, Sendable {
  /// Whether Redis can be read, and its time.
  case store
  /// Workers, backlog, and how long work has waited.
  case fleet
  case alarms
  /// Open jobs with their pace, and those that ended last.
  case jobs
  /// Outcomes of this minute and the last.
  case outcomes
  /// Connections, streams and answer times by network.
  case networks
  case switches
  /// The rates that the configuration sets.
  case rates
  /// The last hour, minute by minute.
  case history
}

/// One reading of the fleet, in sections.
package struct FeedReading: Sendable {
  /// Redis's clock in whole seconds, as epoch milliseconds.
  package let nowMs: Int64
  /// All sections but `store`; one that is not there stays as it was.
  package let sections: [FeedSection: JSONValue]

  package init(nowMs: Int64, sections: [FeedSection: JSONValue]) {
    self.nowMs = nowMs
    self.sections = sections
  }
}

/// The source that the feed reads.
package protocol FleetSource: Sendable {
  /// Reads the fleet once.
  /// - Throws: why it cannot be read now.
  func look() async throws(Problem) -> FeedReading

  /// How a job went on while it was looked at; nil when it was not.
  func pace(app: String, id: String) async -> PaceSeries?
}
