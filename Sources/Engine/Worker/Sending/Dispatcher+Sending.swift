internal import Model
internal import Reactor
internal import Store

extension Dispatcher {
  func decideUnsendable(
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
