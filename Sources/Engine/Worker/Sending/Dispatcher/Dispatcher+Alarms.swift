internal import HTTP2
internal import Logging
internal import Model
internal import Providers
internal import Reactor

// Destinations whose pushes wait, as operators hear of them.
extension Dispatcher {
  /// The alarms of destinations while their pushes wait.
  var alarmConditions: [AlarmCondition] {
    destinations.compactMap { destination in
      guard let destination, let (kind, reason) = alarm(of: destination) else { return nil }
      let (network, environment) = place(destination)
      return AlarmCondition(
        field: kind.field(destination.app, network, environment),
        sentence: "\(destination.app): \(network) (\(environment)) \(reason): "
          + (kind.explainsWaiting
            ? "its pushes wait and use up no attempts, and it is tried again by itself"
            : "that connection was replaced"))
    }
  }

  private func alarm(of destination: Destination) -> (kind: AlarmKind, reason: String)? {
    if let reason = destination.troubleReason { return (.breaker, "is in trouble (\(reason))") }
    if destination.isPaused {
      return (
        .credential, "refuses the credential, or none could be obtained\(because(destination))"
      )
    }
    // A destination that only lacks a descriptor is no trouble of the network's.
    if destination.isStuck && !destination.lacksDescriptors {
      return (.unreachable, "cannot be reached or does not answer\(because(destination))")
    }
    if destination.setup.isCurrent(nowNs: loop.nowNs) {
      let reason = destination.setup.reason
      return (
        .setup,
        "refuses every push because of how the app is set up (\(reason)); "
          + destination.provider.remedy(for: reason)
      )
    }
    let foreign = destination.foreignAnswers.reason(nowNs: loop.nowNs).map {
      (kind: AlarmKind.foreignAnswers, reason: "is answered for by something else (\($0))")
    }
    // Where nothing else answers it is why pushes wait.
    if let foreign, destination.foreignAnswers.isUnbroken { return foreign }
    if let reason = destination.badConnectionReason {
      return (.badConnection, "has bad servers behind its address: \(reason)")
    }
    return foreign
  }

  /// The cause as the end of a clause.
  func because(_ destination: Destination) -> String {
    destination.hindrance(nowMs: wallMs).map { " (\($0))" } ?? "; the workers' log says why"
  }

  func destination(_ destination: Destination, replaced trouble: ConnectionTrouble) {
    let (network, environment) = place(destination)
    reasons.note(
      "\(destination.app): \(network) (\(environment)): \(trouble.reason): that connection is replaced",
      metadata: ["requests": "\(trouble.requests)"])
  }

  func destinationHeld(_ destination: Destination, because reason: String) {
    let (network, environment) = place(destination)
    let sentence =
      "\(destination.app): \(network) (\(environment)) refuses every push because of how the app is set up: its pushes "
      + "wait; \(destination.provider.remedy(for: reason))"
    log.error(
      "\(sentence)",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
        "reason": "\(reason)",
      ])
  }

  func destinationReleased(_ destination: Destination) {
    let (network, environment) = place(destination)
    log.notice(
      "\(destination.app): \(network) (\(environment)) accepts pushes of the app again",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
      ])
  }

  func destinationOpened(_ destination: Destination, because reason: String) {
    let (network, environment) = place(destination)
    log.error(
      "\(destination.app): \(network) (\(environment)) is in trouble: its pushes wait",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
        "reason": "\(reason)",
      ])
  }

  func destinationClosed(_ destination: Destination) {
    let (network, environment) = place(destination)
    let openMs = (loop.nowNs &- destination.breaker.openedNs) / 1_000_000
    log.notice(
      "\(destination.app): \(network) (\(environment)) is sent to again",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
        "open_ms": "\(openMs)",
      ])
  }

  /// How alarms and the log name a destination.
  private func place(_ destination: Destination) -> (network: String, environment: String) {
    let environments = destination.entry.environments
    return (
      destination.provider.network.rawValue,
      environments.count == 1 ? environments.first!.rawValue : "all"
    )
  }
}
