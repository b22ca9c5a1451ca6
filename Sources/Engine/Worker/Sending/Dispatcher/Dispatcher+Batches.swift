internal import HTTP2
internal import Model
internal import Providers
internal import Reactor
internal import Store

// Requests of several pushes. Each push is held to the same rules as one that leaves alone; what an answer says of the
// network, the time that it took included, counts once a request.
extension Dispatcher {
  func isAwaited(_ material: JobMaterial) -> Bool {
    var isAwaited = false
    runs.forEach { if $0.material === material, $0.mayBringMore { isAwaited = true } }
    return isAwaited
  }

  func submit(
    batch tags: [UInt64], to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> BatchSubmission {
    var sendable: [UInt64] = []
    var tokens: [UnsafeRawBufferPointer] = []
    var first: (run: ChunkRun, push: Int, message: JobMaterial.Message)?
    for raw in tags {
      let tag = PushTag(raw)
      guard let run = runs[tag], let message = message(run, tag.push, destination) else { continue }
      sendable.append(raw)
      tokens.append(run.pushes[tag.push].token)
      if first == nil { first = (run, tag.push, message) }
    }
    guard let (run, push, message) = first else { return .withdrawn }
    let environments = destination.entry.environments
    let id = BatchID.of(run.claim, environments: environments, tokens)
    let batch: Batch
    if let template = message.template {
      // All say the same, and one whose values are its own has come alone.
      guard fill(template, run, push, tokens: tokens, id: id) else {
        // What hinders one hinders each.
        for tag in sendable.dropFirst().map(PushTag.init) {
          if let run = runs[tag] { _ = fill(template, run, tag.push) }
        }
        return .withdrawn
      }
      batch = Batch(sendable, filled: filled, message: message)
    } else {
      batch = Batch(sendable, tokens: tokens, id: id, message: message)
    }
    let tag = batches.add(batch)
    let head = message.head(
      destination.heads, authority: destination.authority, credential: credential)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard taker.submit(head, path: none, body: batch.body, tag: tag.raw) else {
      _ = batches.remove(tag)
      return .blocked(sendable)
    }
    for (run, tag) in pushes(of: batch) { run.noteSubmitted(tag.push) }
    noteSent(batch.tags.count, to: destination)
    return .sent(sendable.count)
  }

  /// Returns the pushes whose runs have not ended.
  private func pushes(of batch: Batch) -> [(run: ChunkRun, tag: PushTag)] {
    batch.tags.compactMap { raw in
      let tag = PushTag(raw)
      return runs[tag].map { ($0, tag) }
    }
  }

  func receive(_ answer: RequestAnswer, to tag: BatchTag, from destination: Destination) {
    guard let batch = batches.remove(tag) else { return judgeUnawaited(answer, destination) }
    let pushes = pushes(of: batch)
    for (run, _) in pushes { run.noteReturned() }
    let quarantinedNs = pushes.map { $0.run.quarantined.sinceNs($0.tag.push) }
    if answer.isAccused {
      for (run, tag) in pushes { noteAccused(run, tag.push, destination) }
    }
    switch answer.disposition {
    case .notSent:
      let resends = pushes.reduce(0) { max($0, Int($1.run.pushes[$1.tag.push].resends)) }
      judgeNotSent(answer, resends: resends, destination)
      for (run, tag) in pushes { decideNotSent(run, tag, destination, answer) }
    case .malformed:
      for (number, (run, tag)) in pushes.enumerated() {
        decideMalformed(
          run, tag, destination, answer, quarantinedNs: quarantinedNs[number],
          isAlone: batch.tags.count == 1, isFirst: number == 0)
      }
      judgeMalformed(answer, destination)
    case .unknown:
      judgeSilence(answer, destination)
      for (run, tag) in pushes { decideUnanswered(run, tag, answer, lead: pushes[0].run) }
    case .answered:
      latency.add(destination.network, elapsedNs: answer.elapsedNs)
      if !destination.quarantine.isEmpty, let run = pushes.first?.run {
        destination.noteAnswer(toJob: run.claim.job)
      }
      decide(pushes, of: batch, answer, destination)
    }
  }

  private func decide(
    _ pushes: [(run: ChunkRun, tag: PushTag)], of batch: Batch, _ answer: RequestAnswer,
    _ destination: Destination
  ) {
    let reply = reply(answer, to: pushes.first?.run)
    let classification: Classification
    if batch.tags.count == 1, let (run, tag) = pushes.first {
      classification = destination.provider.classify(reply, of: run.pushes[tag.push].token)
    } else if batch.tags.count == 1 {
      classification = destination.provider.classify(reply)
    } else {
      switch destination.provider.classify(reply, pushes: batch.tags.count) {
      case .all(let one): classification = one
      case .split(let reason, let token):
        judgeGood(answer, destination)
        return split(pushes, answer, reason, token, destination)
      }
    }
    for (run, tag) in pushes { run.noteAnswer(tag.push) }
    if case .accepted = classification {
      if let run = pushes.first?.run {
        judgeAccept(answer, of: run, destination)
      } else {
        judgeGood(answer, destination)
      }
      for (run, tag) in pushes { accept(run, tag.push, answer) }
      return
    }
    let judgement = judge(
      classification, answer, of: pushes.first?.run,
      attempt: pushes.first.map { Int($0.run.pushes[$0.tag.push].attempt) } ?? 0, destination,
      lead: pushes.first?.run)
    for (run, tag) in pushes { decide(run, tag, destination, answer, judgement) }
  }

  /// Sends parts of a refused request as requests of their own: the push that the network blames, and each half of the
  /// others. So one bad push among a thousand takes 3 requests more, and 20 where the network does not say which; one
  /// request a push would be a thousand, and networks of batches count requests. Where all are bad, it is twice as many.
  /// - Parameter token: of the push that is blamed. It is not believed: its push is tried alone.
  private func split(
    _ pushes: [(run: ChunkRun, tag: PushTag)], _ answer: RequestAnswer, _ reason: String,
    _ token: String?, _ destination: Destination
  ) {
    for (run, tag) in pushes {
      run.beginAnswer(TracedAnswer(answer, .rejected(reason: reason)))
      run.note(tag.push, .resend)
    }
    var others = pushes
    var blamed: [(run: ChunkRun, tag: PushTag)] = []
    if let token {
      let index = pushes.firstIndex { $0.run.pushes[$0.tag.push].token.elementsEqual(token.utf8) }
      if let index { blamed.append(others.remove(at: index)) }
    }
    let middle = (others.count + 1) / 2
    for part in [blamed[...], others[..<middle], others[middle...]] {
      guard let first = part.first else { continue }
      let run = first.run
      for (run, tag) in part { run.narrow(tag.push, to: part.count) }
      destination.batches?.append(
        BatchQueue.Draft(
          tags: part.map(\.tag.raw), rank: run.claim.priority.rank, material: run.material,
          wording: run.pushes[first.tag.push].wording, pushesMax: part.count))
    }
    destination.wake()
  }
}
