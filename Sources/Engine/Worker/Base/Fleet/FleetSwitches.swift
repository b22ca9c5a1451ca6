internal import Store
internal import Synchronization

/// The switches that are off, as the process's lane was told that asked last. The others need not ask by themselves.
/// Shared by the lanes.
final class FleetSwitches: Sendable {
  /// The switches that are off, and when that was asked for, on a clock that all lanes have and nobody sets.
  struct Answer: Equatable {
    let reading: SwitchReading
    let askedNs: UInt64
  }

  enum Step: Equatable {
    case ask
    /// Another lane is asking.
    case wait
    /// The last answer is fresh.
    case rest
  }

  private struct State {
    var last: Answer?
    /// When a lane began to ask that has not told its answer.
    var begunNs: UInt64?
  }

  private let state = Mutex(State())

  /// The newest answer, which may be no longer fresh.
  var last: Answer? { state.withLock { $0.last } }

  /// Says what a lane is to do that wants to know, at a time. A lane that is to ask tells the answer by `tell`, or that
  /// there is none by `giveUp`. If it does neither, another is to ask after `WorkerLimits.switchesAskedMs`.
  func step(nowNs: UInt64) -> Step {
    state.withLock { state in
      if let last = state.last, !Self.isPast(WorkerLimits.switchesMs, since: last.askedNs, nowNs) {
        return .rest
      }
      if let begunNs = state.begunNs,
        !Self.isPast(WorkerLimits.switchesAskedMs, since: begunNs, nowNs)
      {
        return .wait
      }
      state.begunNs = nowNs
      return .ask
    }
  }

  func tell(_ answer: Answer) {
    state.withLock { state in
      state.begunNs = nil
      if state.last.map({ $0.askedNs <= answer.askedNs }) ?? true { state.last = answer }
    }
  }

  /// Who began to ask then gets no answer: another is to ask at once.
  func giveUp(begunNs: UInt64) {
    state.withLock { state in
      if state.begunNs == begunNs { state.begunNs = nil }
    }
  }

  /// Each loop reads the clock by itself: another's time may be a little ahead.
  private static func isPast(_ ms: UInt64, since ns: UInt64, _ nowNs: UInt64) -> Bool {
    nowNs >= ns + ms * 1_000_000
  }
}
