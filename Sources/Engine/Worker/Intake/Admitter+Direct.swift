internal import Logging
internal import Reactor
internal import Redis
internal import Store

// Jobs that are sent from their entries.
extension Admitter {
  /// Begins to send jobs from their entries; beside what is taken in next, when Redis is far away.
  func beginAll(
    _ jobs: DirectStarter.Batch, _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    for first in stride(from: 0, to: jobs.count, by: WorkerLimits.directBegunMax) {
      let batch = Array(jobs[first..<min(first + WorkerLimits.directBegunMax, jobs.count)])
      if direct.isFar { direct.hold(batch) } else { try await begin(batch, &refused) }
    }
  }

  /// Begins the batch that was held first.
  func beginHeld() async {
    guard let batch = direct.nextBatch() else { return }
    defer { direct.release(batch) }
    do throws(RedisError) {
      var refused = AdmissionFailures()
      try await begin(batch, &refused)
      try refused.conclude(of: batch.count, context.reasons)
    } catch { direct.onFailure(error) }
  }

  /// Begins to send jobs from their entries.
  private func begin(
    _ jobs: DirectStarter.Batch, _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    let bindings = FirstBindings.read(
      jobs.map(\.job), within: .direct, store: context.store, loop: context.loop)
    let answers = try await context.store.jobs.direct.begin(
      jobs.map(\.direct), consumer: context.settings.consumer)
    // What one came to is no reason to forget what Redis said of the others.
    var failure: RedisError?
    // The others take trips of their own, for which those that can be sent need not wait.
    let order =
      answers.indices.filter { answers[$0] == .success(.new) }
      + answers.indices.filter { answers[$0] != .success(.new) }
    for index in order {
      let (job, direct) = jobs[index]
      do throws(RedisError) {
        try await act(on: try answers[index].get(), job, direct, bindings[index])
      } catch {
        do throws(RedisError) { try refused.note(error, direct.entry) } catch {
          failure = failure ?? error
        }
      }
    }
    if let failure { throw failure }
  }

  private func act(
    on answer: AdmissionAnswer, _ job: PreparedJob, _ direct: DirectJob, _ bindings: FirstBindings?
  ) async throws(RedisError) {
    switch answer {
    case .new where !self.direct.hasPlace, .cancelled:
      try await start(job, direct.admission, direct.entry)
    case .new:
      let nowMs = context.shared.clock.at(context.loop.nowNs)
      let material = materials.make(
        job.content, createdAtMs: direct.entry.enqueuedAtMs(nowMs: nowMs) ?? nowMs, app: job.app,
        id: direct.admission.id, firstBindings: bindings)
      directCarrier.begin(direct, material, atMs: nowMs)
      context.log.debug(
        "job begun",
        metadata: ["app": "\(job.app)", "job": "\(direct.admission.id)"])
    default: try await conclude(direct.entry, direct.admission, answer)
    }
  }
}
