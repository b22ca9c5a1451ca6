/// A job whose app a worker does not have.
package struct JobOfUnknownApp: Sendable {
  package let entry: JobEntry
  package let app: String
  package let id: String
  /// A known app that may have been meant.
  package let suggestion: String?
  /// Epoch milliseconds; nil when it does not expire.
  package let expiresAtMs: Int64?

  package init(
    entry: JobEntry, app: String, id: String, suggestion: String?, expiresAtMs: Int64? = nil
  ) {
    self.entry = entry
    self.app = app
    self.id = id
    self.suggestion = suggestion
    self.expiresAtMs = expiresAtMs
  }
}
