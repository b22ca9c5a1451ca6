/// A value that breaks a rule of the contract: where it is and what to do about it.
package struct InvalidField: Error, Equatable, CustomStringConvertible {
  /// JSON pointer (RFC 6901), such as `/audience/users/3`; empty for the whole document.
  package let pointer: String
  /// The rule, what was found and what to do, to be read after the pointer.
  package let message: String

  package init(pointer: String, message: String) {
    self.pointer = pointer
    self.message = message
  }

  package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }

  /// Returns this complaint as seen from the document that holds the value at `prefix`.
  package func under(_ prefix: String) -> InvalidField {
    InvalidField(pointer: prefix + pointer, message: message)
  }
}
