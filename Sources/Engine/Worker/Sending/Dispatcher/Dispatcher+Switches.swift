internal import Model
internal import Reactor
internal import Store

// What operators have switched off.
extension Dispatcher {
  /// Whether a run's whole app is off, its bucket or its topic.
  func isSwitchedOff(_ run: ChunkRun) -> Bool {
    switches.stops(
      app: run.claim.app, bucket: run.material.bucket, topic: run.material.topic)
  }

  /// Whether a run is to be handed back because it is switched off. What has expired goes on, to be counted.
  func isStopped(_ run: ChunkRun) -> Bool { isSwitchedOff(run) && !isExpired(run) }

  /// For how long a push is set aside because it is switched off; nil when it is not.
  func heldMs(_ run: ChunkRun, _ index: Int) -> UInt64? {
    guard !switches.isEmpty else { return nil }
    return heldMs(run, run.pushes[index].network, run.pushes[index].user)
  }

  func heldMs(
    _ run: ChunkRun, _ network: Network, _ user: UnsafeRawBufferPointer
  ) -> UInt64? {
    guard !switches.isEmpty else { return nil }
    let app = run.claim.app
    if isSwitchedOff(run) || switches.stops(app: app, network) {
      return isExpired(run) ? nil : WorkerLimits.stoppedDelayMs
    }
    if switches.stops(app: app, user: user) {
      return isExpired(run) ? nil : WorkerLimits.stoppedUserDelayMs
    }
    return nil
  }

  /// Takes what is switched off out of the queues, and stops the runs of apps, buckets and topics that are.
  func withdrawStopped() {
    guard !switches.isEmpty else { return }
    for run in runs.all where isStopped(run) { run.change(to: .paused) }
    withdrawUnsendable()
    for destination in destinations {
      destination?.filterQueue { raw in
        let tag = PushTag(raw)
        guard let run = runs[tag] else { return false }
        guard let delayMs = heldMs(run, tag.push) else { return true }
        run.decideLater(
          tag.push, delayMs: delayMs, attempt: Int(run.pushes[tag.push].attempt) - 1)
        return false
      }
    }
  }
}
