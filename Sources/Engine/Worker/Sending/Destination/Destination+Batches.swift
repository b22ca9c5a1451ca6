internal import HTTP2
internal import Model
internal import Providers
internal import Reactor

// Pushes of a network that takes several a request.
extension Destination {
  /// Queues a push, to leave with others of its job. Nothing is sent before the end of the turn.
  func gather(_ run: PushRun, push index: Int, in batches: BatchQueue) {
    let isAlone = !run.material.variants.placeholders.isEmpty
    batches.append(
      run, push: index, wording: run.pushes[index].wording,
      togetherMax: isAlone ? 1 : Int(run.pushes[index].togetherMax), nowNs: loop.nowNs)
    if batches.count == 1 {
      owner.destinationHasWaiting(self)
      transport.wake()
    }
  }

  /// Submits what may leave now. What waits for others is looked at again when it has waited long enough.
  /// - Returns: how many requests were submitted.
  func submit(
    _ batches: BatchQueue, requestsMax: Int, isApart: Bool, _ credential: Credential,
    _ taker: any RequestTaker
  ) -> Int {
    // Rates count pushes, whatever carries them.
    var pushesLeft = limits.isEmpty ? Int.max : allowance(of: .max)
    var (requests, pushes) = (0, 0)
    while requests < requestsMax, pushesLeft > 0, var draft = next(batches, isApart: isApart) {
      if draft.tags.count > pushesLeft { batches.putBack(draft.split(after: pushesLeft)) }
      switch owner.submit(batch: draft.tags, to: self, with: credential, in: taker) {
      case .sent(let count):
        requests += 1
        pushes += count
        pushesLeft -= count
        continue
      case .withdrawn: continue
      case .blocked(let tags):
        draft.tags = tags
        putBack(draft, isApart)
      }
      break
    }
    if !limits.isEmpty { spend(pushes) }
    rest(batches, isApart: isApart)
    return requests
  }

  private func next(_ batches: BatchQueue, isApart: Bool) -> BatchQueue.Draft? {
    guard isApart else {
      return batches.popFirst(nowNs: loop.nowNs) { owner.isAwaited($0) }
    }
    return apart.nextDraft()
  }

  private func putBack(_ draft: BatchQueue.Draft, _ isApart: Bool) {
    owner.destinationHasWaiting(self)
    if isApart { return apart.putBack(draft) }
    guard let batches else { preconditionFailure("a draft came from no queue of batches") }
    batches.putBack(draft)
  }

  private func rest(_ batches: BatchQueue, isApart: Bool) {
    if isApart {
      if apart.queue.count == 0 { apart.transport?.rest() }
      return
    }
    if batches.count < batches.pushesMax { owner.destinationRanLow(self) }
    if batches.count == 0 { transport.rest() }
    guard let dueNs = batches.dueNs, dueNs > loop.nowNs else { return }
    waiting.batchTimer?.schedule(afterMs: (dueNs - loop.nowNs + 999_999) / 1_000_000)
  }
}
