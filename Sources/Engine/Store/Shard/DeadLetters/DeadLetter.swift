internal import Model

/// A job or chunk that was given up on, and why.
package struct DeadLetter: Sendable, Equatable {
  /// The name by which a fleet retries or drops it.
  package let name: ShardEntry
  package let fields: [String: String]

  /// The stream entry, by which its own store knows it.
  package var entry: String { name.id.text }

  /// `job` (refused at admission) or `chunk` (recipients of an admitted job).
  package var kind: String { fields["kind"] ?? "" }
  package var reason: String { fields["reason"] ?? "" }
  /// JSON pointer to the field at fault, or empty.
  package var field: String { fields["field"] ?? "" }
  package var message: String { fields["message"] ?? "" }
  package var app: String { fields["app"] ?? "" }
  package var id: String { fields["id"] ?? "" }
  /// The entry that the producer's XADD returned; empty for a chunk.
  package var jobEntry: String { fields["job_entry"] ?? "" }
  package var priority: String { fields["priority"] ?? "" }
  /// Recipients that a chunk still had, or jobs that one letter stands for; nil for one job.
  package var count: Int? { fields["count"].flatMap { Int($0) }.map { StoredNumber.count($0) } }
  package var atMs: Int64? { fields["at"].flatMap { Int64($0) }.map { StoredNumber.instantMs($0) } }
  /// The job's text or the chunk's recipients; only in `DeadLetters.show`.
  package var original: String? { fields["job"] ?? fields["recipients"] }
  /// The letter as a list has it.
  var withoutOriginal: DeadLetter {
    DeadLetter(name: name, fields: fields.filter { !Self.originals.contains($0.key) })
  }

  /// The fields that may be large.
  static let originals: Set = ["job", "recipients", "done"]

  /// The original was over the size limit and only its beginning is kept.
  package var isTruncated: Bool { fields["truncated"] == "1" && fields["kept"] == nil }
}
