internal import Model
internal import Reactor
internal import Redis
internal import Store

// Pushes that waited.
extension BindingResolver {
  /// Reads the bindings of pushes that waited too long to be sent; those that still hold are queued
  /// again, the others are skipped.
  func verify(_ run: PushRun, _ pushes: [Int]) async throws(RedisError) {
    let readNs = loop.nowNs
    let bindings = try await self.bindings(
      app: run.claim.app, of: pushes.map { (run.pushes[$0].network, run.pushes[$0].token) })
    for (index, binding) in zip(pushes, bindings) {
      guard let binding, binding.user.utf8.elementsEqual(run.pushes[index].user) else {
        run.decide(index, .skipped, because: .rebound)
        continue
      }
      guard binding.environment == run.pushes[index].environment else {
        // Installed anew for the other environment: its residual finds the way there.
        run.decideLater(
          index, delayMs: 0, attempt: Int(run.pushes[index].attempt) - 1, because: .otherEnvironment
        )
        continue
      }
      run.confirmBinding(index, generation: binding.generation, atNs: freshNs(readNs))
      router.enqueue(run, push: index)
    }
    router.wake()
  }
}
