import Providers
import Synchronization

/// A clock that moves when the test says so.
final class TestClock: Sendable {
  private let now: Mutex<Int64>

  init(_ nowMs: Int64 = 1_790_000_000_000) {
    now = Mutex(nowMs)
  }

  var nowMs: Int64 { now.withLock { $0 } }
  var wallClock: WallClock { WallClock { self.nowMs } }

  func advance(minutes: Int64) {
    now.withLock { $0 += minutes * 60_000 }
  }

  func advance(ms: Int64) {
    now.withLock { $0 += ms }
  }
}
