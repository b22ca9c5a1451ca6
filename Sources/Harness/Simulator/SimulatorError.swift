/// Why the simulator cannot start or take a script: a sentence that says what to do.
package struct SimulatorError: Error, Equatable, CustomStringConvertible {
  package enum Kind: Sendable { case configuration, script, unavailable }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
