internal import Logging
internal import Model
internal import Providers
internal import Reactor

// Destinations whose breaker is open, as operators hear of them.
extension Dispatcher {
  /// A destination's alarm while its breaker is not closed.
  struct Trouble {
    /// Its field among the alarms.
    let field: String
    let sentence: String
  }

  var troubles: [Trouble] {
    destinations.compactMap { destination in
      guard let destination, let reason = destination.troubleReason else { return nil }
      let (network, environment) = place(destination)
      return Trouble(
        field: "breaker|\(destination.app)|\(network)|\(environment)",
        sentence: "\(destination.app): \(network) (\(environment)) is in trouble (\(reason)): "
          + "its pushes wait and burn no attempts, and it is tried again by itself")
    }
  }

  func destinationOpened(_ destination: Destination, because reason: String) {
    let (network, environment) = place(destination)
    destination.troubleReason = reason
    log.error(
      "\(destination.app): \(network) (\(environment)) is in trouble: its pushes wait",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
        "reason": "\(reason)",
      ])
  }

  func destinationClosed(_ destination: Destination) {
    destination.troubleReason = nil
    let (network, environment) = place(destination)
    let openMs = (loop.nowNs &- destination.breaker.openedNs) / 1_000_000
    log.notice(
      "\(destination.app): \(network) (\(environment)) is sent to again",
      metadata: [
        "app": "\(destination.app)", "network": "\(network)", "environment": "\(environment)",
        "open_ms": "\(openMs)",
      ])
  }

  private func place(_ destination: Destination) -> (network: String, environment: String) {
    let environments = directory.entries[Int(destination.number)].environments
    return (
      destination.provider.network.rawValue,
      environments.count == 1 ? environments.first!.rawValue : "all"
    )
  }
}
