internal import HTTP2

extension Destination {
  /// Whether pushes wait for a rate and not for the network.
  var isStarved: Bool { queued > 0 && limits.contains { $0.available == 0 } }

  /// How many of so many pushes its rates let it send now.
  func allowance(of count: Int) -> Int { limits.reduce(count) { min($0, $1.available) } }

  /// Spends the rates on so many pushes that were sent, and draws what the rest needs. A narrow rate comes before
  /// a wide one, which is not drawn for pushes that wait for the other.
  func spend(_ sent: Int) {
    for limit in limits { limit.spend(sent) }
    for limit in limits {
      limit.refill()
      if limit.available == 0 { return }
    }
  }

  /// Whether a push of this rank would only wait for a rate, behind many others.
  func isCongested(rank: Int, times factor: Int = 1) -> Bool {
    guard !limits.isEmpty, isStarved, let queueMax = limits.map(\.queueMax).min() else {
      return false
    }
    return queued(upTo: rank) >= queueMax * factor
  }

  /// Whether what waits here takes none of the room that its lane has for all destinations: it is bounded by itself.
  var keepsToItself: Bool { isStarved || isSilent }
  /// Whether nothing connects or authorises, or pushes have waited in vain for an answer to anything.
  var isSilent: Bool { isOutOfTouch || progress.isUnanswered }
  /// Whether nothing connects, or nothing authorises.
  var isOutOfTouch: Bool {
    progress.isOutOfTouch && (transport.readyConnections == 0 || credential == nil)
  }
}
