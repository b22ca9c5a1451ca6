/// What Redis says to a job that asks for its name.
package enum AdmissionAnswer: String, Sendable {
  /// `reserve`: the name is this job's.
  case new = "NEW"
  /// `admit`: the job is queued and its entry gone.
  case admitted = "OK"
  /// The same job was admitted before; the entry is gone.
  case duplicate = "DUPLICATE"
  /// Another job has the name: refuse this one with `id_conflict`.
  case conflict = "CONFLICT"
  /// The entry belongs to another worker now.
  case stale = "STALE"
}
