/// What a lane has done and has in hand, for beats and the status screen.
package struct LaneStatistics: Sendable {
  package var inFlight = 0
  package var accepted = 0
  package var connections = 0
  package var runs = 0
  /// Whether Redis can be reached.
  package var isConnected = true

  package init() {}

  package static func += (sum: inout LaneStatistics, more: LaneStatistics) {
    sum.inFlight += more.inFlight
    sum.accepted += more.accepted
    sum.connections += more.connections
    sum.runs += more.runs
    sum.isConnected = sum.isConnected && more.isConnected
  }
}
