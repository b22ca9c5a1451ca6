internal import Model
internal import Reactor
internal import Store

extension Dispatcher {
  /// Whether a push is still to be sent; decides it when it is not.
  func isSendable(_ run: ChunkRun, _ index: Int) -> Bool {
    switch run.standing {
    case .active: break
    case .cancelled, .stale:
      run.decide(
        index, .skipped, because: run.standing == .stale ? .takenOver : .cancelled)
      return false
    case .paused:
      run.decideLater(
        index, delayMs: 0, attempt: Int(run.pushes[index].attempt) - 1, because: .paused)
      return false
    }
    if let expiresAtMs = run.material.expiresAtMs, wallMs >= expiresAtMs {
      run.decide(index, .expired, because: .expired)
      return false
    }
    if !switches.isEmpty, let delayMs = heldMs(run, index) {
      run.decideLater(index, delayMs: delayMs, attempt: Int(run.pushes[index].attempt) - 1)
      return false
    }
    let ageNs = loop.nowNs &- run.pushes[index].boundNs
    guard ageNs <= WorkerLimits.bindingAgeMsMax &* 1_000_000 else {
      // The token may be somebody else's by now: ask again before sending.
      staleBindings[run.slot, default: []].append(index)
      run.signal.raise()
      return false
    }
    return true
  }

  func hasStaleBindings(_ run: ChunkRun) -> Bool { staleBindings[run.slot] != nil }

  /// Pushes of a run whose bindings must be read again before they are sent.
  func takeStaleBindings(_ run: ChunkRun) -> [Int] {
    staleBindings.removeValue(forKey: run.slot) ?? []
  }

  /// Decides those of a run that may not send any more.
  func endStaleBindings(_ run: ChunkRun) {
    for index in takeStaleBindings(run) { _ = isSendable(run, index) }
  }

  /// Puts them back when reading failed.
  func keepStaleBindings(_ run: ChunkRun, _ pushes: [Int]) {
    staleBindings[run.slot, default: []].append(contentsOf: pushes)
  }

  func decideUnsendable(
    _ run: ChunkRun, _ index: Int, _ rendering: JobMaterial.Rendering
  ) {
    switch rendering {
    case .message: return
    case .refused(let field):
      logOnce("\(run.claim.app): job \(run.claim.job) cannot be sent: \(field)")
      run.decide(index, .rejected, because: .unrenderable)
    case .empty: run.decide(index, .skipped, because: .notForNetwork)
    case .nothing: run.decide(index, .skipped, because: .noDryRun)
    }
  }

  func withPath<Result>(
    _ prefix: UnsafeRawBufferPointer, _ token: UnsafeRawBufferPointer,
    _ use: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard !prefix.isEmpty else { return use(prefix) }
    let count = prefix.count + token.count
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { path in
      path.copyMemory(from: prefix)
      UnsafeMutableRawBufferPointer(rebasing: path[prefix.count...]).copyMemory(from: token)
      return use(UnsafeRawBufferPointer(path))
    }
  }
}
