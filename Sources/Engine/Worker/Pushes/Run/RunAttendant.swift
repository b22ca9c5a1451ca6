/// Waits with a run in place of a task. The protocol does not name `PushRun`, so that the two do not need each other.
protocol RunAttendant<Run>: AnyObject {
  associatedtype Run: AnyObject
  /// There is something to do for a run.
  func hear(_ run: Run)
}
