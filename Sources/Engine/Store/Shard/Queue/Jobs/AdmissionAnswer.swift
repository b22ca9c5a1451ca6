/// Redis's answer to a job that asks for its name.
package enum AdmissionAnswer: String, Sendable {
  /// `reserve`, `begin_direct`: the name is this job's.
  case new = "NEW"
  /// The job was cancelled while it waited, for `begin_direct` also paused or given a pace. It is admitted, without
  /// segments if it was cancelled.
  case cancelled = "CANCELLED"
  /// `admit`: the job is queued and its entry gone.
  case admitted = "OK"
  /// An equal job was admitted before; the entry is gone.
  case duplicate = "DUPLICATE"
  /// Another job has the name: refuse this one with `id_conflict`.
  case conflict = "CONFLICT"
  /// The record under the entry's id is that of another job, which goes on: refuse this one with `entry_taken`.
  case taken = "TAKEN"
  /// The entry belongs to another worker now.
  case stale = "STALE"
  /// The audience's key does not exist.
  case keyMissing = "KEY_MISSING"
  /// The audience's key is no SET, ZSET or LIST.
  case keyType = "KEY_TYPE"
  /// Redis lets nobody read the audience's key: an ACL, or another cluster slot than the prefix's.
  case keyUnreadable = "KEY_UNREADABLE"
  /// The audience's key is a large set in a compact encoding, which can only be read as a whole.
  case keyEncoding = "KEY_ENCODING"
  /// The indexes of all and of channels lack users that older versions have bound.
  case notIndexed = "NOT_INDEXED"
  /// The key of values does not exist.
  case variablesMissing = "VARIABLES_MISSING"
  /// The key of values is no HASH.
  case variablesType = "VARIABLES_TYPE"
  /// Redis lets nobody read the key of values, as with `keyUnreadable`.
  case variablesUnreadable = "VARIABLES_UNREADABLE"
  /// There are so many events of its bucket, or jobs to its topic, that it would have to wait for too long: refuse it with
  /// `loop_guard`.
  case looping = "LOOP"
}
