internal import Synchronization

/// How many bytes of bodies may be in memory at a time, of all requests together.
final class BodyAllowance: Sendable {
  private let bytesMax: Int
  private let taken = Mutex(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  var bytes: Int { taken.withLock { $0 } }

  /// - Returns: false when there is no room for so many.
  func take(_ count: Int) -> Bool {
    taken.withLock { taken in
      guard count <= bytesMax - taken else { return false }
      taken += count
      return true
    }
  }

  func giveBack(_ count: Int) { taken.withLock { $0 -= count } }
}
