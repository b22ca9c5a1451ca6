internal import Model
internal import Reactor

// Pushes that may not be sent, or not now.
extension Dispatcher {
  /// Why a push is not to be submitted.
  enum Hindrance: Equatable {
    case cancelled, takenOver, paused, expired
    /// The push is switched off, and comes back after so long.
    case switchedOff(delayMs: UInt64)
    /// The token may be somebody else's by now: its binding is read again before it is sent.
    case oldBinding
  }

  /// Returns what keeps a push from being submitted now; nil when nothing does.
  func hindrance(_ run: ChunkRun, _ index: Int) -> Hindrance? {
    switch run.standing {
    case .active: break
    case .cancelled: return .cancelled
    case .stale: return .takenOver
    case .paused: return .paused
    }
    if let expiresAtMs = run.material.expiresAtMs, wallMs >= expiresAtMs { return .expired }
    if !switches.isEmpty, let delayMs = heldMs(run, index) {
      return .switchedOff(delayMs: delayMs)
    }
    let ageNs = loop.nowNs &- run.pushes[index].boundNs
    return ageNs <= WorkerLimits.bindingAgeMsMax &* 1_000_000 ? nil : .oldBinding
  }

  /// Decides a push that is not submitted, or has its binding read again.
  func withdraw(_ run: ChunkRun, _ index: Int, because hindrance: Hindrance) {
    let attempt = Int(run.pushes[index].attempt) - 1
    switch hindrance {
    case .cancelled: run.decide(index, .skipped, because: .cancelled)
    case .takenOver: run.decide(index, .skipped, because: .takenOver)
    case .paused: run.decideLater(index, delayMs: 0, attempt: attempt, because: .paused)
    case .expired: run.decide(index, .expired, because: .expired)
    case .switchedOff(let delayMs): run.decideLater(index, delayMs: delayMs, attempt: attempt)
    case .oldBinding: run.noteStaleBinding(index)
    }
  }

  /// Decides those of a run's pushes with old bindings whose run may not send any more.
  func endStaleBindings(_ run: ChunkRun) {
    for index in run.takeStaleBindings() {
      if let hindrance = hindrance(run, index) { withdraw(run, index, because: hindrance) }
    }
  }
}
