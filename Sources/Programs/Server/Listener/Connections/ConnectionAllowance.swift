internal import HummingbirdCore

/// How many connections there may be at a time. Others wait in the kernel until one ends.
struct ConnectionAllowance: AvailableConnectionsDelegate {
  private let max: Int
  private let figures: ServerFigures
  private var count = 0

  init(max: Int, _ figures: ServerFigures) {
    self.max = max
    self.figures = figures
  }

  mutating func connectionOpened() {
    count += 1
    figures.connections(changedBy: 1)
  }

  mutating func connectionClosed() {
    count -= 1
    figures.connections(changedBy: -1)
  }

  func isAcceptingNewConnections() -> Bool { count < max }
}
