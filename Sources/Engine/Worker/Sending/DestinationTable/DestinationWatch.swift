internal import Model
internal import Providers

/// Watches the destinations of a lane: puts aside what does not get away, and tells operators why pushes wait; loop-bound.
struct DestinationWatch {
  let destinations: DestinationTable
  let clock: LaneClock

  /// Once a beat.
  func look() { destinations.checkReachable() }

  /// The alarms of destinations while their pushes wait.
  var alarmConditions: [AlarmCondition] {
    destinations.used.compactMap { destination in
      guard !destination.isRetired else { return nil }
      guard let (kind, reason) = alarm(of: destination) else { return nil }
      let name = destination.journal.name
      return AlarmCondition(
        field: kind.field(name.app, name.network, name.environment),
        sentence: "\(name.app): \(name.network) (\(name.environment)) \(reason): "
          + (kind.explainsWaiting
            ? "its pushes wait and use up no attempts, and it is tried again by itself"
            : "that connection was replaced"))
    }
  }

  private func alarm(of destination: Destination) -> (kind: AlarmKind, reason: String)? {
    if let reason = destination.health.troubleReason {
      return (.breaker, "is in trouble (\(reason))")
    }
    if destination.isPaused {
      return (
        .credential, "refuses the credential, or none could be obtained\(because(destination))"
      )
    }
    // A destination that only lacks a descriptor is no trouble of the network's.
    if destination.isStuck && !destination.lacksDescriptors {
      return (.unreachable, "cannot be reached or does not answer\(because(destination))")
    }
    if destination.health.setup.isCurrent(nowNs: clock.nowNs) {
      let reason = destination.health.setup.reason
      return (
        .setup,
        "refuses every push because of how the app is set up (\(reason)); "
          + destination.provider.remedy(for: reason)
      )
    }
    let health = destination.health
    if let held = health.jobHolds.current(isProven: health.isProven, nowNs: clock.nowNs) {
      return (
        .setup,
        "refuses every push of job \(held.job) because of how the app is set up (\(held.reason)), though it has taken others; "
          + destination.provider.remedy(for: held.reason)
      )
    }
    let foreign = destination.health.foreignAnswers.reason(nowNs: clock.nowNs).map {
      (kind: AlarmKind.foreignAnswers, reason: "is answered for by something else (\($0))")
    }
    // Where nothing else answers it is why pushes wait.
    if let foreign, destination.health.foreignAnswers.isUnbroken { return foreign }
    if let reason = destination.badConnectionReason {
      return (.badConnection, "has bad servers behind its address: \(reason)")
    }
    return foreign
  }

  /// The cause as the end of a clause.
  private func because(_ destination: Destination) -> String {
    destination.hindrance(nowMs: clock.wallMs).map { " (\($0))" } ?? "; the workers' log says why"
  }
}
