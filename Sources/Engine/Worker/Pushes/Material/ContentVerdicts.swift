internal import Model

/// The networks' verdicts on a job's content, on one lane. Content that every device's network refuses alike is refused
/// for the job: its other pushes are not sent.
struct ContentVerdicts {
  /// Refusals alike in a row, with no accept of the job before, after which nothing more of it is sent.
  static let refusalsMin = 10
  /// Refusals in a row after which nothing more is sent, where the token may be to blame, or the texts of one receiver.
  static let doubtfulMin = 50

  private struct Refusals {
    var reason: String
    var count: Int
  }

  // A bit for each network.
  private var accepted: UInt8 = 0
  private var condemned: UInt8 = 0
  private var refusals: [Network: Refusals] = [:]

  /// Whether any network has. Looked at for each push.
  var isAnyCondemned: Bool { condemned != 0 }

  func isCondemned(by network: Network) -> Bool { condemned & Self.bit(network) != 0 }

  /// Whether the network has accepted a push of the job.
  func isAccepted(by network: Network) -> Bool { accepted & Self.bit(network) != 0 }

  /// The network accepted a push of the job: what it refuses is no matter of the whole job, whatever it seemed before.
  mutating func noteAccept(by network: Network) {
    accepted |= Self.bit(network)
    condemned &= ~Self.bit(network)
  }

  /// - Returns: whether the network has refused enough of the job by now.
  mutating func noteRefusal(by network: Network, _ reason: String, isSure: Bool) -> Bool {
    guard (accepted | condemned) & Self.bit(network) == 0 else { return false }
    var entry = refusals[network] ?? Refusals(reason: reason, count: 0)
    if entry.reason != reason { entry = Refusals(reason: reason, count: 0) }
    entry.count += 1
    refusals[network] = entry
    guard entry.count >= (isSure ? Self.refusalsMin : Self.doubtfulMin) else { return false }
    condemned |= Self.bit(network)
    return true
  }

  private static func bit(_ network: Network) -> UInt8 { 1 << UInt8(network.index) }
}
