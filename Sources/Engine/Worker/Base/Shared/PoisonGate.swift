internal import Synchronization

/// Lets one poison chunk at a time run in a process: one that has lost two workers or more.
///
/// A crash counts against every chunk that the process held, the innocent ones too. From its second crash on a chunk
/// therefore runs without the others of that kind. So only the culprit comes to five crashes, and is given up.
final class PoisonGate: Sendable {
  private struct Holder {
    var ticket: UInt64 = 0
    var untilNs: UInt64 = 0
  }

  private let holder = Mutex(Holder())

  /// - Parameter nowNs: of the monotonic clock, which all loops share.
  /// - Returns: what `leave` takes; nil while another chunk is there.
  func enter(nowNs: UInt64) -> UInt64? {
    holder.withLock { holder in
      guard nowNs >= holder.untilNs else { return nil }
      holder.ticket += 1
      holder.untilNs = nowNs &+ WorkerLimits.poisonAloneMs * 1_000_000
      return holder.ticket
    }
  }

  /// Makes room. Does nothing when the place has been given to another since.
  func leave(_ ticket: UInt64) {
    holder.withLock { if $0.ticket == ticket { $0.untilNs = 0 } }
  }
}
