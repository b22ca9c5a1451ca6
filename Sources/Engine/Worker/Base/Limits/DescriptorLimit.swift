internal import CLinux

/// How many file descriptors a worker may have open, and how many its configuration may take.
package enum DescriptorLimit {
  /// Raises the limit, and says that it does not even do for a start; nil when it does.
  package static func lack() -> String? {
    guard raise() < WorkerLimits.descriptorsMin else { return nil }
    return "\(sentence), and needs at least \(WorkerLimits.descriptorsMin)"
  }

  /// For instance `this process may open 64 files (systemd's LimitNOFILE=, ulimit -Hn)`.
  static var sentence: String {
    "this process may open \(raise()) files (systemd's LimitNOFILE=, ulimit -Hn)"
  }

  /// Raises the soft limit to the hard one (getrlimit(2)), which is all that a process may do by itself.
  /// - Returns: what holds from then on.
  static func raise() -> UInt64 { clinux_raise_descriptors_max() }

  /// Returns how many the process needs when every lane is connected to every destination.
  static func needed(lanes: Int, destinations: Int, connectionsPerLane: Int) -> Int {
    WorkerLimits.processDescriptors
      + lanes * (WorkerLimits.laneDescriptors + destinations * connectionsPerLane)
  }

  /// Connections to networks beyond which each of so many lanes closes idle ones: a part of the descriptors, since what
  /// is busy is not closed.
  static func connectionsKept(lanes: Int, allowed: UInt64 = raise()) -> Int {
    let free =
      Int(clamping: allowed) - WorkerLimits.processDescriptors
      - lanes * WorkerLimits.laneDescriptors
    let kept = min(WorkerLimits.connectionsKeptMax, free / 4 * 3)
    return max(1, kept / lanes)
  }

  /// Says that the limit will not do; nil when it does.
  static func remark(lanes: Int, destinations: Int, connectionsPerLane: Int) -> String? {
    let allowed = raise()
    let needed = needed(
      lanes: lanes, destinations: destinations, connectionsPerLane: connectionsPerLane)
    guard allowed < needed else { return nil }
    return """
      this worker may open \(allowed) files, and its configuration may take \(needed): \(lanes) lanes with \
      \(destinations) destinations of \(connectionsPerLane) connections each; raise the limit (systemd's \
      LimitNOFILE=, ulimit -Hn), or idle connections are closed for others when there are no more
      """
  }
}
