internal import Model
internal import Reactor
internal import Redis
internal import Store

/// Looks for a job that no worker has taken in among all that wait. It only reads.
struct WaitingJobSearch {
  let app: String
  let id: String
  let stores: [ShardStore]

  /// A job that waits, and in whose streams it does.
  struct Found {
    let job: WaitingJob
    let store: ShardStore
  }

  /// - Parameter report: told 0 as a look at all that wait begins, then how many entries were looked at.
  /// - Returns: nil when no such job waits.
  /// - Throws: `.notFoundYet` when the caller's patience ends between two steps; `.stopped` when it does while a
  ///   store is away.
  func find(
    _ patience: Patience, report: (Int) -> Void
  ) async throws(OperationError) -> Found? {
    var unnamed: Found?
    for store in stores {
      let given = try await patience.repeating(on: store) { store throws(RedisError) in
        try await store.jobs.waiting.job(app: app, givenID: id)
      }
      guard let given else { continue }
      // Without an app it may be another shard's job of the same entry.
      guard given.app.isEmpty else { return Found(job: given, store: store) }
      unnamed = unnamed ?? Found(job: given, store: store)
    }
    if let unnamed { return unnamed }
    var looked = 0
    report(looked)
    for store in stores {
      for priority in Priority.allCases {
        var after: String?
        repeat {
          let page = try await patience.repeating(on: store) { store throws(RedisError) in
            try await store.jobs.waiting.search(id: id, priority: priority, after: after)
          }
          if let job = try await find(in: page, priority, store, patience) {
            return Found(job: job, store: store)
          }
          looked += page.looked
          after = page.next
          if after != nil {
            report(looked)
            guard patience.isLeft else { throw .notFoundYet(job: id) }
            await pause(store)
          }
        } while after != nil
      }
    }
    return nil
  }

  /// The job among the entries of a page that may be it.
  private func find(
    in page: WaitingPage, _ priority: Priority, _ store: ShardStore, _ patience: Patience
  ) async throws(OperationError) -> WaitingJob? {
    for entry in page.entries {
      guard patience.isLeft else { throw .notFoundYet(job: id) }
      let job = try await patience.repeating(on: store) { store throws(RedisError) in
        try await store.jobs.waiting.job(app: app, id: id, priority: priority, entry: entry)
      }
      if let job { return job }
      await pause(store)
    }
    return nil
  }

  private func pause(_ store: ShardStore) async {
    await store.connection.loop.sleep(ms: OperationsLimits.searchPauseMs)
  }
}
