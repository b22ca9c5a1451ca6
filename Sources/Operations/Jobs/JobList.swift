package import Model
package import Redis
package import Store

/// The jobs of all shards: those that are under way, wait for their time or are paused, and those that ended last.
package struct JobList: Sendable, Equatable {
  /// How many are admitted and not finished, of whatever app.
  package private(set) var openCount = 0
  /// The open jobs that were looked at: running ones first, then paused and scheduled ones, each in the order of their
  /// beginning.
  package private(set) var open: [JobRecord] = []
  /// The last first.
  package private(set) var ended: [JobRecord] = []

  /// - Parameters:
  ///   - app: only its jobs; nil for all.
  ///   - endedMax: of how many jobs that ended something is said.
  package static func read(
    _ stores: [ShardStore], app: String? = nil, endedMax: Int
  ) async throws(RedisError) -> JobList {
    var list = JobList()
    // A set that changes while it is scanned may tell of a member twice.
    var known: Set<String> = []
    for store in stores {
      list.openCount += try await store.jobs.openCount()
      var cursor = "0"
      repeat {
        let part = try await store.jobs.openJobs(cursor: cursor)
        cursor = part.cursor
        let wanted = part.jobs.filter { app == nil || $0.app == app }
        for record in try await store.jobs.records(wanted)
        where known.insert("\(record.app)\n\(record.id)").inserted {
          list.open.append(store.own(record))
        }
      } while cursor != "0" && list.open.count < OperationsLimits.listedJobsMax
      guard endedMax > 0 else { continue }
      let ended =
        if let app {
          try await store.jobs.ended(of: app, max: endedMax)
        } else {
          try await store.jobs.ended(max: endedMax)
        }
      list.ended += ended.map(store.own)
    }
    // Many may begin in the same millisecond, and Redis tells of them in any order.
    list.open.sort { ($0.listRank, $0.beginsAtMs, $0.id) < ($1.listRank, $1.beginsAtMs, $1.id) }
    list.ended.sort { ($0.finishedAtMs ?? 0) > ($1.finishedAtMs ?? 0) }
    list.ended = Array(list.ended.prefix(endedMax))
    return list
  }
}

extension JobRecord {
  /// The place of its state in a list: those that go on first.
  package var listRank: Int {
    switch state {
    case .running: 0
    case .queued: 1
    case .paused: 2
    case .scheduled: 3
    case .cancelled, .done, .refused: 4
    }
  }

  /// When it begins or began, by which jobs of one state are listed, in epoch milliseconds.
  package var beginsAtMs: Int64 { startAtMs ?? startedAtMs ?? createdAtMs ?? 0 }

  /// How long a running job will take yet, in ms, at the pace that it has had; nil when that says nothing.
  package func leftMs(nowMs: Int64) -> Int64? {
    guard state == .running, let startedAtMs, counts.settled > 0, pending >= 0,
      nowMs > startedAtMs
    else { return nil }
    let left = Double(nowMs - startedAtMs) * Double(pending) / Double(counts.settled)
    return left < Double(Limits.instantMsMax) ? Int64(left) : nil
  }
}
