/// Redis's answer to an operator who has a job start at another time.
package enum RescheduleAnswer: String, Sendable, Equatable {
  /// The job starts then. One that is paused starts when it is resumed, and not before.
  case moved = "MOVED"
  /// No worker has taken the job in yet.
  case waiting = "WAITING"
  /// The job has started.
  case started = "STARTED"
  /// The job has ended.
  case ended = "ENDED"
  /// The job starts by the clocks of its receivers.
  case local = "LOCAL"
  /// The instant is further ahead than any job may start.
  case far = "FAR"
  /// The job expires at an instant that is no later.
  case expired = "EXPIRED"
}
