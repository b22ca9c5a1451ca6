internal import Store
internal import Synchronization

/// The lanes of a process that have nothing to do, so that work wakes one of them and not all.
///
/// A lane that looked for work in vain is idle until somebody wakes it: the lane that watches the streams, when work was
/// added, or one that found as much as it asked for, since there may be more.
final class IdleLanes: Sendable {
  typealias Wake = @Sendable () -> Void

  enum Order {
    /// Whose connections are warm.
    case lastIdle
    /// The one that has waited longest, so that each has its turn.
    case longestIdle
  }

  private struct Queue {
    var waiting: [(lane: Int, wake: Wake)] = []
    /// Work came while no lane was idle. The next that would be idle looks once more, since its last look may have been
    /// before that.
    var isWorkExpected = false
  }

  private struct State {
    var jobs = Queue()
    var chunks = Queue()
    var isHeldWatched = false
    /// Lanes that have enough large jobs.
    var fullLanes = 0

    subscript(kind: WorkKind) -> Queue {
      get { kind == .jobs ? jobs : chunks }
      set { if kind == .jobs { jobs = newValue } else { chunks = newValue } }
    }
  }

  private let state = Mutex(State())

  /// Says that a lane has nothing to do.
  /// - Parameter wake: called once at most, from any thread.
  /// - Returns: false when it is to look once more instead.
  func enlist(_ lane: Int, for kind: WorkKind, wake: @escaping Wake) -> Bool {
    state.withLock { state in
      if state[kind].isWorkExpected {
        state[kind].isWorkExpected = false
        return false
      }
      state[kind].waiting.append((lane, wake))
      return true
    }
  }

  /// Takes a lane off the list that has something to do without having been woken.
  func withdraw(_ lane: Int, from kind: WorkKind) {
    state.withLock { state in state[kind].waiting.removeAll { $0.lane == lane } }
  }

  /// The kinds of work that some lane waits for.
  var kinds: Set<WorkKind> {
    state.withLock { state in
      Set(WorkKind.allCases.filter { !state[$0].waiting.isEmpty })
    }
  }

  /// Wakes one lane. - Returns: whether there was one; else the next that would be idle looks for work first.
  @discardableResult
  func wake(_ kind: WorkKind, _ order: Order = .lastIdle) -> Bool {
    let wake: Wake? = state.withLock { state in
      guard !state[kind].waiting.isEmpty else {
        state[kind].isWorkExpected = true
        return nil
      }
      return order == .lastIdle
        ? state[kind].waiting.removeLast().wake : state[kind].waiting.removeFirst().wake
    }
    wake?()
    return wake != nil
  }

  /// Whether the caller is to ask now and then for jobs that are held back, of which no stream tells: one lane does.
  func watchHeld() -> Bool {
    state.withLock { state in
      defer { state.isHeldWatched = true }
      return !state.isHeldWatched
    }
  }

  func leaveHeld() {
    state.withLock { $0.isHeldWatched = false }
  }

  /// The caller has enough large jobs, and looks for small ones now and then. - Returns: how many lanes do.
  func enterFull() -> Int {
    state.withLock { state in
      state.fullLanes += 1
      return state.fullLanes
    }
  }

  func leaveFull() {
    state.withLock { $0.fullLanes -= 1 }
  }
}
