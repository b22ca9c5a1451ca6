internal import Synchronization

/// The one place in a process for a chunk that workers were lost with more than once.
///
/// A chunk that ends its worker takes along what the process holds beside it. That counts as a crash of those,
/// too, so from their second on they keep apart from one another: the cause is given up after five, and what
/// died with it twice goes on without it.
final class SuspectGate: Sendable {
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
      holder.untilNs = nowNs &+ WorkerLimits.suspectAloneMs * 1_000_000
      return holder.ticket
    }
  }

  /// Makes room. Does nothing when the place has been given to another since.
  func leave(_ ticket: UInt64) {
    holder.withLock { if $0.ticket == ticket { $0.untilNs = 0 } }
  }
}
