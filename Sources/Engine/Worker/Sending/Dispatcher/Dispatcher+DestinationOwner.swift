internal import HTTP2
internal import Model
internal import Providers
internal import Reactor
internal import Store

// What destinations tell besides answers.
extension Dispatcher: DestinationOwner {
  func putAside(_ tags: [UInt64], of destination: Destination, forMs delayMs: UInt64) {
    // The breaker has said why by itself.
    if destination.breaker.state == .closed && !destination.lacksDescriptors {
      reasons.note(
        "\(destination.app): \(destination.provider.network.rawValue) cannot be reached, does not answer "
          + "or refuses the credential: its pushes wait"
          + (destination.hindrance(nowMs: wallMs).map { " (\($0))" } ?? ""))
    }
    for raw in tags {
      let tag = PushTag(raw)
      guard let run = runs[tag] else { continue }
      putAside(run, tag.push, delayMs: delayMs, because: .parked)
    }
  }

  func destinationHasWaiting(_ destination: Destination) { list(destination) }

  func destinationRanLow(_ destination: Destination) {
    // Those whose last pushes have just left make room for others, and are not looked at by themselves for a while.
    if runs.freeSlots == 0 {
      runs.forEach { run in if runs.mayLinger(run) { run.wake() } }
    }
    guard let lowest = Priority.allCases.last(where: hasRoom) else { return }
    runs.forEach { run in
      if run.wantsResolving, run.claim.priority.rank <= lowest.rank { run.wake() }
    }
  }
}
