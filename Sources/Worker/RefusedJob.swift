internal import Model

/// Why a text is no job, and what it calls itself.
struct RefusedJob: Error {
  let field: InvalidField
  /// For whoever looks for it among the dead letters; empty where it cannot be read.
  let app: String
  let id: String

  init(_ field: InvalidField, _ text: [UInt8]) {
    let object = (try? JSONParser().parse(text))?.objectValue
    // Not as it stands: both go into keys, logs and onto terminals.
    func read(_ member: String, _ check: (String) throws(InvalidField) -> Void) -> String {
      guard let value = object?[member]?.stringValue, (try? check(value)) != nil else { return "" }
      return value
    }
    self.field = field
    app = read("app", TextRule.checkApp)
    id = read("id", TextRule.checkJobID)
  }
}
