/// A job whose app a worker does not have.
package struct JobOfUnknownApp: Sendable {
  package let entry: JobEntry
  package let app: String
  package let id: String
  /// A known app that may have been meant.
  package let suggestion: String?

  package init(entry: JobEntry, app: String, id: String, suggestion: String?) {
    self.entry = entry
    self.app = app
    self.id = id
    self.suggestion = suggestion
  }
}
