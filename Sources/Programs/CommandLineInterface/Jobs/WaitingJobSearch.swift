internal import Model
internal import Redis
internal import Store

/// Looks for a job that no worker has taken in among all that wait. It only reads, and a Ctrl-C ends it.
struct WaitingJobSearch {
  let app: String
  let id: String
  let session: RedisSession

  /// Nil when no such job waits.
  func find() async throws(CommandFailure) -> WaitingJob? {
    let (app, id) = (app, id)
    let given = try await session.runRepeating { store throws(RedisError) in
      try await store.jobs.waiting(app: app, givenID: id)
    }
    if let given { return given }
    let display = ProgressDisplay(label: "looking through the jobs that wait", total: nil)
    defer { display.clear() }
    Interrupts.shared.expect()
    var looked = 0
    for priority in Priority.allCases {
      var after: String?
      repeat {
        let start = after
        let page = try await session.runRepeating { store throws(RedisError) in
          try await store.jobs.searchWaiting(id: id, priority: priority, after: start)
        }
        for entry in page.entries {
          try check()
          let job = try await session.runRepeating { store throws(RedisError) in
            try await store.jobs.waiting(app: app, id: id, priority: priority, entry: entry)
          }
          if let job { return job }
          await session.sleep(ms: CommandLineLimits.searchPauseMs)
        }
        looked += page.looked
        after = page.next
        if after != nil {
          display.update(done: looked)
          try check()
          await session.sleep(ms: CommandLineLimits.searchPauseMs)
        }
      } while after != nil
    }
    return nil
  }

  private func check() throws(CommandFailure) {
    guard Interrupts.shared.hasCome else { return }
    throw CommandFailure(
      .interrupted, "job \(DisplayText.printable(id)) was not found yet, and nothing was changed")
  }
}
