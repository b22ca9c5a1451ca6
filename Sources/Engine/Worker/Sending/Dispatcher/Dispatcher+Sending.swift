internal import HTTP2
internal import Model
internal import Providers
internal import Store

// From a destination's queue onto a connection.
extension Dispatcher {
  func submit(
    _ raw: UInt64, to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission {
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return .withdrawn }
    guard let message = message(run, tag.push, destination) else { return .withdrawn }
    let head = message.head(
      destination.heads, authority: destination.authority, credential: credential)
    let push = run.pushes[tag.push]
    let wasTaken = withBody(message, run, tag.push) { body in
      withPath(message.pathPrefix, push.token) { path in
        taker.submit(head, path: path, body: body, tag: raw)
      }
    }
    guard let wasTaken else { return .withdrawn }
    guard wasTaken else {
      queue(run, tag.push, destination)
      return .blocked
    }
    run.noteSubmitted(tag.push)
    noteSent(1, to: destination)
    return .sent
  }

  /// - Returns: nil when there is no body, and the push was decided.
  private func withBody(
    _ message: JobMaterial.Message, _ run: ChunkRun, _ index: Int, _ use: (RequestBody) -> Bool
  ) -> Bool? {
    if let template = message.template {
      guard template.aroundOne == nil else { return join(template, run, index).map(use) }
      guard fill(template, run, index) else { return nil }
      return filled.withUnsafeBytes { use(RequestBody(copying: $0)) }
    }
    return use(message.body(to: run.pushes[index].token))
  }

  /// Returns the message that a push is sent as; nil when it was decided without being sent, or put aside.
  func message(
    _ run: ChunkRun, _ index: Int, _ destination: Destination
  ) -> JobMaterial.Message? {
    if let hindrance = hindrance(run, index) {
      withdraw(run, index, because: hindrance)
      return nil
    }
    if run.material.verdicts.isAnyCondemned,
      run.material.verdicts.isCondemned(by: destination.network)
    {
      run.decide(index, .rejected, because: .contentRefused)
      return nil
    }
    let rendering = run.material.rendering(
      for: destination.number, variant: run.pushes[index].variant,
      provider: destination.provider, nowMs: wallMs)
    if case .message(let message) = rendering { return message }
    decideUnsendable(run, index, rendering)
    return nil
  }

  private func decideUnsendable(
    _ run: ChunkRun, _ index: Int, _ rendering: JobMaterial.Rendering
  ) {
    switch rendering {
    case .message: return
    case .refused(let field):
      reasons.note("\(run.claim.app): job \(run.claim.job) cannot be sent: \(field)")
      run.decide(index, .rejected, because: .unrenderable)
    case .empty: run.decide(index, .skipped, because: .notForNetwork)
    case .nothing: run.decide(index, .skipped, because: .noDryRun)
    }
  }

  private func withPath<Result>(
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
