internal import Model
internal import Reactor

// What is done when the process has no file descriptor left.
extension Dispatcher {
  /// A connection of this lane could not be opened for want of a descriptor: frees one, and has the other lanes free
  /// theirs.
  func noteOutOfDescriptors(_ error: SystemError) {
    settings.shortage.note(error, nowNs: loop.nowNs)
    reasons.note(
      "no file descriptor is left (\(error)): idle connections are closed for others, and each destination keeps to "
        + "one; raise the limit (systemd's LimitNOFILE=, ulimit -Hn)")
    freeDescriptor()
  }

  /// Once a beat: frees a descriptor while any lane of the process lacks one.
  func checkDescriptors() {
    let error = settings.shortage.error(withinMs: 2 * WorkerLimits.beatMs, nowNs: loop.nowNs)
    if error != nil { freeDescriptor() }
  }

  /// Once a beat: closes the idle connections that were used least recently, beyond those that the lane keeps.
  func closeSurplus() {
    let surplus = connections - settings.connectionsKept
    guard surplus > 0 else { return }
    let idle = destinations.compactMap { destination in
      destination.flatMap { known in known.idleSinceNs.map { (sinceNs: $0, destination: known) } }
    }
    for oldest in idle.sorted(by: { $0.sinceNs < $1.sinceNs }).prefix(surplus) {
      oldest.destination.closeIdle()
    }
  }

  /// Closes the idle connection that was used least recently; without any, lets go of one where a destination has several.
  private func freeDescriptor() {
    loop.beFrugal(forMs: WorkerLimits.shortageMs)
    let used = destinations.compactMap { $0 }
    let idle = used.filter { $0.idleSinceNs != nil }.min { $0.idleSinceNs! < $1.idleSinceNs! }
    if let idle { return idle.closeIdle() }
    for destination in used where destination.shed() { return }
  }

  /// The alarm while descriptors are short.
  var shortageCondition: AlarmCondition? {
    guard
      let error = settings.shortage.error(withinMs: WorkerLimits.shortageMs, nowNs: loop.nowNs)
    else { return nil }
    return AlarmCondition(
      field: AlarmKind.descriptors.field(settings.worker),
      sentence:
        "worker \(settings.worker) has no file descriptor left (\(error)): connections are closed for one "
        + "another, and pushes wait; raise the limit (systemd's LimitNOFILE=, ulimit -Hn)")
  }
}
