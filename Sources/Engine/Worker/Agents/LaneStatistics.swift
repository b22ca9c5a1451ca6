/// The counts of what a lane has done and has in hand, for beats and the status screen.
struct LaneStatistics: Sendable {
  var inFlight = 0
  var accepted = 0
  var connections = 0
  /// How long the lane took to begin with the answer.
  var lagNs: UInt64 = 0
  /// Whether Redis can be used.
  var isConnected = true
  /// Why it cannot, as far as that is known.
  var trouble: String?

  static func += (sum: inout LaneStatistics, more: LaneStatistics) {
    sum.inFlight += more.inFlight
    sum.accepted += more.accepted
    sum.connections += more.connections
    sum.lagNs = max(sum.lagNs, more.lagNs)
    sum.isConnected = sum.isConnected && more.isConnected
    sum.trouble = sum.trouble ?? more.trouble
  }
}
