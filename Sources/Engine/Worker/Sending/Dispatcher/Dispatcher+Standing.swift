internal import Logging
internal import Model
internal import Providers
internal import Store

// Runs that may not send any more, or not now.
extension Dispatcher {
  /// Does to a run what the store says of it.
  func apply(_ standing: WorkStanding, _ run: ChunkRun) {
    switch standing {
    case .ok: return
    case .paused: run.change(to: .paused)
    case .cancelled: run.change(to: .cancelled)
    case .stale:
      if run.standing == .active {
        log.notice(
          "a chunk is not this worker's any more: what it still sent of it is not counted here",
          metadata: ["app": "\(run.claim.app)", "job": "\(run.claim.job)"])
      }
      run.change(to: .stale)
    }
    withdrawUnsendable()
  }

  /// For how long a chunk is to stay away because its job goes to nobody who can be sent to now: all of its pushes would be
  /// put aside one by one. nil when some would be sent, or when it has expired.
  func parkedMs(_ claim: ChunkClaim, _ material: JobMaterial) -> UInt64? {
    guard !isExpired(material) else { return nil }
    var delayMs: UInt64?
    let content = material.content
    for number in directory.positions(app: claim.app, environments: content.environments)
    where content.isFor(directory.entries[number].provider.network) {
      guard let parkedMs = destinations[number]?.parkDelayMs(rank: claim.priority.rank) else {
        return nil
      }
      delayMs = min(delayMs ?? .max, parkedMs)
    }
    return delayMs
  }

  /// Sends nothing more of the chunks in hand: what is not in flight is handed back.
  func pauseAll() {
    for run in runs.all { run.change(to: .paused) }
    withdrawUnsendable()
  }

  /// Takes the pushes of runs that may not send any more out of the queues.
  func withdrawUnsendable() {
    for destination in destinations {
      destination?.filterQueue { raw in
        let tag = PushTag(raw)
        guard let run = runs[tag] else { return false }
        guard run.standing != .active, let hindrance = hindrance(run, tag.push) else { return true }
        withdraw(run, tag.push, because: hindrance)
        return false
      }
    }
  }
}
