/// The waits between attempts to connect: doubled while connections end without having answered, and
/// jittered, since providers take rapid reconnecting for an attack.
package struct ReconnectPause {
  private let msMin: UInt64
  private let msMax: UInt64
  private var failures = 0
  private static let failuresMax = 16

  package init(_ settings: ClientSettings) {
    msMin = settings.reconnectMsMin
    msMax = settings.reconnectMsMax
  }

  /// A request was answered: the next wait is the shortest again.
  package mutating func noteAnswer() { failures = 0 }

  /// How long to wait now, in milliseconds.
  /// - Parameter isFailure: whether the connection ended without having answered anything.
  package mutating func next(afterFailure isFailure: Bool) -> UInt64 {
    if isFailure { failures = min(failures + 1, Self.failuresMax) }
    let doublings = UInt64(max(0, failures - 1))
    let ceiling = min(msMax, msMin << doublings)
    return UInt64.random(in: (ceiling / 2)...ceiling)
  }
}
