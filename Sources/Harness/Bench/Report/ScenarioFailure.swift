/// A scenario that could not be measured.
package struct ScenarioFailure: Sendable, Equatable {
  package let name: String
  package let reason: String

  package init(name: String, reason: String) {
    self.name = name
    self.reason = reason
  }
}
