internal import Model

/// Why a text is no job, and what it calls itself.
struct RefusedJob: Error {
  let field: InvalidField
  /// For whoever looks for it among the dead letters; empty where it cannot be read.
  let app: String
  let id: String

  init(_ field: InvalidField, _ text: [UInt8]) {
    (app, id) = Job.name(in: text)
    self.field = field
  }
}
