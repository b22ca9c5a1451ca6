/// Why a job was not admitted, as its record or its dead letter tells.
package struct JobRefusal: Sendable, Equatable {
  /// A code for programs, such as `invalid_job`.
  package var reason: String
  /// JSON pointer to the field at fault; empty for the job as a whole.
  package var field: String
  /// A sentence for people: the rule and what to do. A record keeps its beginning.
  package var message: String
  /// The entry of the dead letter in the job's shard, which has the job's text. It may be gone: retried or dropped.
  package var letter: String

  package init(reason: String, field: String = "", message: String = "", letter: String = "") {
    self.reason = reason
    self.field = field
    self.message = message
    self.letter = letter
  }
}
