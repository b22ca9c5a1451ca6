package import Model
package import Redis
package import Store

/// A job as a producer gives it, before it is in a stream.
package struct JobSubmission: Sendable {
  /// The job that the text says; nil when it was not checked.
  package let job: Job?
  /// The app that the text names. Nil only where a text that was not checked has none.
  package let app: String?
  /// The id that the text gives the job; nil when the entry will.
  package let id: String?
  /// The digest of what the job says; nil when it was not checked. Of a large job it takes long: it is made where the
  /// submission is, and not on the loop of a store.
  package let digest: String?
  private let text: [UInt8]

  /// Takes a text that keeps the rules. Workers check it once more, also by their configuration.
  /// - Parameter text: JSON, at most `Limits.jobBytesMax` bytes.
  /// - Throws: the first rule that it breaks.
  package init(checking text: [UInt8]) throws(InvalidField) {
    let job = try Job(bytes: text)
    self.job = job
    app = job.app
    id = job.id
    digest = ContentDigest.of(job)
    self.text = text
  }

  /// Takes any text, and leaves it to the workers to refuse it. The app and the id are those that it has where they belong.
  package init(unchecked text: [UInt8]) {
    let object = (try? JSONParser().parse(text))?.objectValue
    job = nil
    digest = nil
    app = object?["app"]?.stringValue
    id = object?["id"]?.stringValue
    self.text = text
  }

  /// The shard that the job belongs into: its app's, or the home where the text names no app.
  package var scope: ShardScope { app.map { .app($0) } ?? .home }

  /// Adds the job and takes its name in one step, where the server has the function for it and the caller may call it;
  /// otherwise as `enqueue` does. It is tried once, as that.
  /// - Throws: after `.connectionLost` and `.timeout` the job may have been added.
  package func submit(
    in store: ShardStore, priority: Priority
  ) async throws(RedisError) -> SubmittedJob {
    let name = job.flatMap { job in id.map { (app: job.app, id: $0) } }
    let answer = try await store.jobs.submit(text, priority: priority, digest: digest, name: name)
    guard let answer else {
      return .created(try await enqueue(in: store, priority: priority))
    }
    let job = EnqueuedJob(
      app: app ?? "", id: answer.id, priority: priority, entry: answer.entry, shard: store.id,
      text: text)
    switch answer.status {
    case .created: return .created(job)
    case .replayed: return .replayed(job)
    case .conflict: return .conflict(.takenName(answer.id))
    }
  }

  /// Adds the job to the stream of a priority; needs no functions. It is tried once, since a job without an id is another one
  /// each time.
  /// - Returns: the job as it can be followed; its app is empty where the text names none.
  /// - Throws: after `.connectionLost` and `.timeout` the job may have been added.
  package func enqueue(
    in store: ShardStore, priority: Priority
  ) async throws(RedisError) -> EnqueuedJob {
    let entry = try await store.jobs.enqueue(text, priority: priority)
    return EnqueuedJob(
      app: app ?? "", id: id ?? JobSource.of(entry, priority), priority: priority, entry: entry,
      shard: store.id, text: text)
  }
}

/// The outcome of a job's submission.
package enum SubmittedJob: Sendable {
  /// The job was added to its stream.
  case created(EnqueuedJob)
  /// The same job came before, and is this one; its priority may be another. Nothing was added.
  case replayed(EnqueuedJob)
  /// Another job has its id. Nothing was added.
  case conflict(InvalidField)
}

/// A job that was added to its stream.
package struct EnqueuedJob: Sendable {
  package let app: String
  package let id: String
  package let priority: Priority
  /// The entry in the stream of its shard.
  package let entry: String
  package let shard: ShardID
  /// The text that was added, to know a dead letter by.
  let text: [UInt8]

  /// - Parameters:
  ///   - entry: what `JobQueue.enqueue` returned.
  ///   - shard: that of the store to which the job was added.
  package init(
    app: String, id: String, priority: Priority, entry: String, shard: ShardID, text: [UInt8]
  ) {
    self.app = app
    self.id = id
    self.priority = priority
    self.entry = entry
    self.shard = shard
    self.text = text
  }

  /// The text by which everybody knows the entry.
  package var entryText: String { shard.text(of: entry) }

  /// The source that the record of this admission names; another source is an earlier job of the same id.
  var source: String { JobSource.of(entry, priority) }

  /// When the entry was added, by the server's clock: the first half of its id.
  var addedAtMs: Int64 { Int64(entry.prefix { $0 != "-" }) ?? 0 }
}
