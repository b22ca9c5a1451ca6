/// Why a job is not admitted, as its dead letter tells the producer.
package struct Refusal: Sendable, Equatable {
  /// A code for programs: `invalid_job`, `id_conflict`, `unknown_app`…
  package var reason: String
  /// JSON pointer to the field at fault; empty for the job as a whole.
  package var field: String
  /// A sentence for people: the rule and what to do.
  package var message: String
  /// Empty when the job does not get as far as naming them.
  package var app: String
  package var id: String

  package init(
    reason: String, field: String = "", message: String, app: String = "", id: String = ""
  ) {
    self.reason = reason
    self.field = field
    self.message = message
    self.app = app
    self.id = id
  }
}
