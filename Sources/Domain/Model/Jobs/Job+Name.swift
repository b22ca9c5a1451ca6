extension Job {
  /// Returns the app and id that a job which breaks the rules gives itself, for whoever looks for it; empty where that
  /// cannot be read.
  package static func name(in text: [UInt8]) -> (app: String, id: String) {
    let object = (try? JSONParser().parse(text))?.objectValue
    // Not as it stands: both go into keys, logs and onto terminals.
    func read(_ member: String, _ check: (String) throws(InvalidField) -> Void) -> String {
      guard let value = object?[member]?.stringValue, (try? check(value)) != nil else { return "" }
      return value
    }
    return (read("app", TextRule.checkApp), read("id", TextRule.checkJobID))
  }
}
