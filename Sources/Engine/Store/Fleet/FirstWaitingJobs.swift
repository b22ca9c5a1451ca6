internal import Model

/// The first job of each priority that nobody had taken, as it was found last: to learn an entry's id Redis copies the
/// entry, and a job may have megabytes. Loop-bound.
final class FirstWaitingJobs {
  private var entries: [Priority: EntryID] = [:]

  subscript(priority: Priority) -> EntryID? {
    get { entries[priority] }
    set { entries[priority] = newValue }
  }
}
