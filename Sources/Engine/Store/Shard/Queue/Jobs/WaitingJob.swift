package import Model

/// A job that was enqueued and not admitted yet, as a worker will read it.
package struct WaitingJob: Sendable {
  package let priority: Priority
  /// The stream entry.
  package let entry: String
  /// Empty when it cannot be read; such a job has a `fault`.
  package let app: String
  /// The job's id, or what a worker will call a job without.
  package let id: String
  /// How many recipients it names.
  package let recipients: Int
  /// By which it is told from another job of its id; empty when it has a `fault`.
  package let digest: String
  /// The rule that it breaks, for which a worker will refuse it. What only workers know, such as their apps and the
  /// limits of a network, is not looked at.
  package let fault: InvalidField?

  /// Reads the text as a worker will.
  package init(priority: Priority, entry: String, text: [UInt8]) {
    self.priority = priority
    self.entry = entry
    let name: (app: String, id: String?)
    do throws(InvalidField) {
      let job = try Job(bytes: text)
      name = (job.app, job.id)
      (recipients, digest, fault) = (job.audience.count ?? 0, ContentDigest.of(job), nil)
    } catch {
      let written = Job.name(in: text)
      name = (written.app, written.id.isEmpty ? nil : written.id)
      (recipients, digest, fault) = (0, "", error)
    }
    app = name.app
    id = name.id ?? JobSource.of(entry, priority)
  }

  /// Returns the record that it would have.
  package func record(nowMs: Int64) -> JobRecord {
    var record = JobRecord(app: app, id: id, state: .queued)
    record.priority = priority
    record.source = JobSource.of(entry, priority)
    record.total = recipients
    record.pending = recipients
    record.createdAtMs = JobSource.enqueuedAtMs(entry, nowMs: nowMs)
    return record
  }
}
