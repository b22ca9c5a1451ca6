/// Redis's answer to a name that is taken for a job that waits.
package enum NamingAnswer: String, Sendable {
  /// The name is the job's: it has a record.
  case new = "NEW"
  /// An equal job has the name under another entry.
  case duplicate = "DUPLICATE"
  /// Another job has the name; this one will be refused.
  case conflict = "CONFLICT"
  /// The entry is not there any more: it was admitted or refused.
  case gone = "GONE"
}
