/// A job's order to send to each installation when clocks in its own time zone show a time.
package struct LocalDelivery: Sendable, Equatable {
  /// The treatment of an installation whose time zone is not known.
  package enum WithoutZone: String, Sendable, CaseIterable {
    /// The job at the app's own time.
    case app
    case utc
    /// Nothing.
    case skip
  }

  /// The treatment of a time that has passed when the job is enqueued.
  package enum Late: String, Sendable, CaseIterable {
    /// The job is sent at once.
    case send
    /// Nothing is sent.
    case skip
    /// The job is sent at that time of the next day.
    case nextDay = "next_day"
  }

  /// Nil for the first time that clocks show the time after the job is enqueued.
  package var date: CivilDate?
  /// From midnight, 0 to 1,439.
  package var minutes: Int
  /// Nil for the app's zone if it has one in the configuration, else UTC.
  package var withoutZone: WithoutZone?
  package var late: Late

  package init(
    date: CivilDate?, minutes: Int, withoutZone: WithoutZone? = nil, late: Late = .send
  ) {
    self.date = date
    self.minutes = minutes
    self.withoutZone = withoutZone
    self.late = late
  }
}
