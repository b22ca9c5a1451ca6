internal import Model
internal import Reactor

/// Frees file descriptors when the process has none left, and closes connections that nobody needs; loop-bound.
final class DescriptorRelief {
  private let loop: EventLoop
  private let destinations: DestinationTable
  /// The process, as its alarms name it.
  private let worker: String
  private let connectionsKept: Int
  private let shortage: DescriptorShortage
  private let reasons: ReasonLog

  /// - Parameters:
  ///   - connectionsKept: connections to all networks beyond which idle ones are closed.
  ///   - shortage: shared by the lanes of a process.
  init(
    loop: EventLoop, destinations: DestinationTable, worker: String, connectionsKept: Int,
    shortage: DescriptorShortage, reasons: ReasonLog
  ) {
    self.loop = loop
    self.destinations = destinations
    self.worker = worker
    self.connectionsKept = connectionsKept
    self.shortage = shortage
    self.reasons = reasons
  }

  /// A connection of this lane could not be opened for want of a descriptor: frees one, and has the other lanes free
  /// theirs.
  func noteOutOfDescriptors(_ error: SystemError) {
    shortage.note(error, nowNs: loop.nowNs)
    reasons.note(
      "no file descriptor is left (\(error)): idle connections are closed for others, and each destination keeps to "
        + "one; raise the limit (systemd's LimitNOFILE=, ulimit -Hn)")
    freeDescriptor()
  }

  /// Once a beat: frees a descriptor while any lane of the process lacks one.
  func check() {
    let error = shortage.error(withinMs: 2 * WorkerLimits.beatMs, nowNs: loop.nowNs)
    if error != nil { freeDescriptor() }
  }

  /// Once a beat: closes the idle connections that were used least recently, beyond those that the lane keeps.
  func closeSurplus() {
    let surplus = destinations.connections - connectionsKept
    guard surplus > 0 else { return }
    let idle = destinations.used.compactMap { destination in
      destination.idleSinceNs.map { (sinceNs: $0, destination: destination) }
    }
    for oldest in idle.sorted(by: { $0.sinceNs < $1.sinceNs }).prefix(surplus) {
      oldest.destination.closeIdle()
    }
  }

  /// Closes the idle connection that was used least recently; without any, lets go of one where a destination has several.
  private func freeDescriptor() {
    loop.beFrugal(forMs: WorkerLimits.shortageMs)
    let used = destinations.used
    let idle = used.filter { $0.idleSinceNs != nil }.min { $0.idleSinceNs! < $1.idleSinceNs! }
    if let idle { return idle.closeIdle() }
    for destination in used where destination.shed() { return }
  }

  /// The alarm while descriptors are short.
  var alarmCondition: AlarmCondition? {
    guard let error = shortage.error(withinMs: WorkerLimits.shortageMs, nowNs: loop.nowNs) else {
      return nil
    }
    return AlarmCondition(
      field: AlarmKind.descriptors.field(worker),
      sentence:
        "worker \(worker) has no file descriptor left (\(error)): connections are closed for one "
        + "another, and pushes wait; raise the limit (systemd's LimitNOFILE=, ulimit -Hn)")
  }
}
