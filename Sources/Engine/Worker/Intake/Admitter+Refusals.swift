internal import Logging
internal import Model
internal import Redis
internal import Store

// What becomes of a job that is not admitted, and what its producer is told.
extension Admitter {
  /// Says in the log what came of a job, and makes a dead letter of one that is refused.
  func conclude(
    _ entry: JobEntry, _ admission: Admission, _ answer: AdmissionAnswer
  ) async throws(RedisError) {
    let metadata: Logger.Metadata = ["app": "\(admission.app)", "job": "\(admission.id)"]
    switch answer {
    case .new, .cancelled, .admitted:
      let audience: Logger.Metadata =
        admission.audience.usersKey.map { ["users_key": "\(FieldPointer.printable($0))"] }
        ?? admission.audience.index.map { ["index": "\($0.name)"] }
        ?? ["recipients": "\(admission.audience.recipients)"]
      context.log.info("job admitted", metadata: metadata.merging(audience) { $1 })
    case .duplicate: context.log.info("job ignored: it was enqueued before", metadata: metadata)
    case .stale:
      let isRescued = try await context.store.jobs.rescue(
        entry, app: admission.app, id: admission.id, digest: admission.digest,
        consumer: context.settings.consumer,
        retentionSeconds: context.snapshot.rules.retention[admission.app].manySeconds)
      guard isRescued else {
        return context.log.notice("job left to another worker", metadata: metadata)
      }
      context.log.error(
        "the entry of a job was deleted after it was taken: look for what trims or deletes the streams",
        metadata: metadata.merging(["dead_letter": "entry_lost"]) { $1 })
    case .taken:
      let field = InvalidField(
        pointer: "",
        message: "a job that is not over yet came by the same entry id \(entry.entry), before its "
          + "stream was deleted; retry this, which gives it another one")
      try await refuse(entry, "entry_taken", field, app: admission.app, id: admission.id)
    case .conflict:
      let field = InvalidField.takenName(admission.id)
      try await refuse(entry, "id_conflict", field, app: admission.app, id: admission.id)
    case .notIndexed:
      let field = InvalidField(
        pointer: admission.audience.index == .all ? "/audience/all" : "/audience/channel",
        message:
          "not all users of \(admission.app) are in its indexes yet, since older versions kept none: "
          + "when all workers are of this version, run pushpool index --app \(admission.app), "
          + "then retry this")
      try await refuse(entry, "not_indexed", field, app: admission.app, id: admission.id)
    case .looping: try await refuseLoop(entry, admission)
    case .variablesMissing, .variablesType, .variablesUnreadable:
      let key = admission.variablesKey ?? ""
      let field = InvalidField.unusable(variablesKey: key, answer)
      try await refuse(entry, "invalid_job", field, app: admission.app, id: admission.id)
    case .keyMissing, .keyType, .keyUnreadable, .keyEncoding:
      let field = InvalidField.unusable(usersKey: admission.audience.usersKey ?? "", answer)
      try await refuse(entry, "invalid_job", field, app: admission.app, id: admission.id)
    }
  }

  /// A loop brings so many that not each has a line in the log.
  private func refuseLoop(
    _ entry: JobEntry, _ admission: Admission
  ) async throws(RedisError) {
    let what: String
    let refusal: Refusal
    if let bucket = admission.loopGuard.bucket {
      what = "events of the bucket \(FieldPointer.printable(bucket))"
      refusal = Refusal(
        reason: "loop_guard", field: "/event/bucket_id",
        message:
          "there are so many events of this bucket that this one would wait for over a minute: "
          + "look for an app that changes data when it is told of a change, or raise events_per_minute, "
          + "then retry this", app: admission.app, id: admission.id)
    } else {
      what = "jobs to the topic \(admission.audience.index?.topic ?? "")"
      refusal = Refusal(
        reason: "loop_guard", field: "/audience/topic",
        message:
          "there are so many jobs to this topic that this one would wait for over a minute: "
          + "look for an app that sends to the topic when it receives from it, or raise "
          + "events_per_minute, then retry this", app: admission.app, id: admission.id)
    }
    context.reasons.note(
      "\(admission.app): \(what) come so fast that some are refused (pushpool dead list)")
    try await context.store.jobs.refuse(
      entry, refusal, consumer: context.settings.consumer,
      retentionSeconds: context.snapshot.rules.retention[refusal.app].manySeconds)
  }

  private func refuse(
    _ entry: JobEntry, _ reason: String, _ field: InvalidField, app: String, id: String
  ) async throws(RedisError) {
    let refusal = Refusal(
      reason: reason, field: field.pointer, message: field.message, app: app, id: id)
    note(refusal, entry)
    try await context.store.jobs.refuse(
      entry, refusal, consumer: context.settings.consumer,
      retentionSeconds: context.snapshot.rules.retention[refusal.app].manySeconds)
  }

  private func note(_ refusal: Refusal, _ entry: JobEntry) {
    let field = InvalidField(pointer: refusal.field, message: refusal.message)
    context.log.notice(
      "job refused: \(field)",
      metadata: [
        "entry": "\(entry.entry)", "app": "\(refusal.app)", "reason": "\(refusal.reason)",
      ])
  }

  /// Leaves jobs of apps that this worker does not have to one that has them, and makes dead letters of others; many in a
  /// trip, since those of one app must not keep another's waiting.
  func turnAway(
    _ jobs: [TurnedAway], _ refused: inout AdmissionFailures
  ) async throws(RedisError) {
    let atOnce = WorkerLimits.turnedAwayAtOnceMax
    for first in stride(from: 0, to: jobs.count, by: atOnce) {
      var strangers: [JobOfUnknownApp] = []
      var letters: [(entry: JobEntry, refusal: Refusal)] = []
      for job in jobs[first..<min(first + atOnce, jobs.count)] {
        switch job {
        case .refused(let entry, let refusal): letters.append((entry, refusal))
        case .unknownApp(let stranger): strangers.append(stranger)
        case .elsewhere(let job):
          if elsewhere?.take(job) != true {
            strangers.append(JobOfUnknownApp(job, from: context.settings.shard))
          }
        }
      }
      letters += try await passOn(strangers, &refused)
      for (entry, refusal) in letters { note(refusal, entry) }
      let answers = await context.store.jobs.refuse(
        letters, consumer: context.settings.consumer,
        retentionSeconds: { [retention = context.snapshot.rules.retention] in
          retention[$0].manySeconds
        })
      for (letter, answer) in zip(letters, answers) {
        do throws(RedisError) { _ = try answer.get() } catch {
          try refused.note(error, letter.entry)
        }
      }
    }
  }

  /// - Returns: those that nobody has the app of, and too many others wait for already.
  private func passOn(
    _ jobs: [JobOfUnknownApp], _ refused: inout AdmissionFailures
  ) async throws(RedisError) -> [(entry: JobEntry, refusal: Refusal)] {
    var letters: [(entry: JobEntry, refusal: Refusal)] = []
    let answers = await context.store.routes.passOn(
      jobs, consumer: context.settings.consumer, waitMs: context.snapshot.rules.unroutedMs)
    for (job, answer) in zip(jobs, answers) {
      let metadata: Logger.Metadata = ["app": "\(job.app)", "job": "\(job.id)"]
      do throws(RedisError) {
        switch try answer.get() {
        case .ok: context.log.info("job left to a worker that has its app", metadata: metadata)
        case .stale: context.log.notice("job left to another worker", metadata: metadata)
        case .full: letters.append((job.entry, .unknownApp(job)))
        }
      } catch { try refused.note(error, job.entry) }
    }
    return letters
  }
}
