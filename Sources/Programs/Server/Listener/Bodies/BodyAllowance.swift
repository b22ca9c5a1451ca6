internal import Synchronization

/// How many bytes of bodies may be in memory at a time, of all requests together and of each caller. Some are kept for small
/// bodies, so that phones register while backends send large jobs.
final class BodyAllowance: Sendable {
  private struct Taken {
    var bytes = 0
    /// By the names of the callers who have a body in hand.
    var ofCallers: [String: Int] = [:]
  }

  private let bytesMax: Int
  private let ofCallerMax: Int
  private let keptForSmall: Int
  private let taken = Mutex(Taken())

  init(
    bytesMax: Int = ServerLimits.bodiesBytesMax,
    ofCallerMax: Int = ServerLimits.callersBodiesBytesMax,
    keptForSmall: Int = ServerLimits.smallBodiesBytesKept
  ) {
    self.bytesMax = bytesMax
    self.ofCallerMax = ofCallerMax
    self.keptForSmall = keptForSmall
  }

  var bytes: Int { taken.withLock { $0.bytes } }

  /// - Parameter isSmall: whether the whole body of which these are bytes is a small one as far as it has come.
  /// - Returns: false when there is no room for so many.
  func take(_ count: Int, of caller: String, isSmall: Bool) -> Bool {
    taken.withLock { taken in
      let room = isSmall ? bytesMax : bytesMax - keptForSmall
      let own = taken.ofCallers[caller] ?? 0
      guard count <= room - taken.bytes, count <= ofCallerMax - own else { return false }
      taken.bytes += count
      taken.ofCallers[caller] = own + count
      return true
    }
  }

  func giveBack(_ count: Int, of caller: String) {
    guard count > 0 else { return }
    taken.withLock { taken in
      taken.bytes -= count
      let own = (taken.ofCallers[caller] ?? 0) - count
      taken.ofCallers[caller] = own > 0 ? own : nil
    }
  }
}
