internal import Reactor
internal import Synchronization

/// The latest lack of a file descriptor in the process, as its lanes tell one another of it. Whoever lacks one and
/// whoever holds an idle connection may be two lanes.
final class DescriptorShortage: Sendable {
  private let notes = Mutex<(atNs: UInt64, error: SystemError)?>(nil)

  /// - Parameter nowNs: of the clock that all loops share.
  func note(_ error: SystemError, nowNs: UInt64) {
    notes.withLock { $0 = (nowNs, error) }
  }

  /// Returns the latest error, if it is no older than that.
  func error(withinMs: UInt64, nowNs: UInt64) -> SystemError? {
    notes.withLock { note in
      guard let note, nowNs &- min(note.atNs, nowNs) < withinMs * 1_000_000 else { return nil }
      return note.error
    }
  }
}
