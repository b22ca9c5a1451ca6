/// Text that never shows in a description, a dump or a log.
package struct Secret: Sendable, Equatable {
  /// The secret itself, for the one place that sends it.
  package let text: String

  package init(_ text: String) { self.text = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
