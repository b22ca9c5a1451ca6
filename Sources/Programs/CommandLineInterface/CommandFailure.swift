import Typesetting

/// Why a command ends without having done its work: one sentence for the person who typed it.
struct CommandFailure: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String

  init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }

  /// - Parameter others: why else it may be unknown.
  static func unknownJob(_ id: String, app: String, or others: String) -> CommandFailure {
    CommandFailure(
      .badInput,
      "there is no job \(DisplayText.printable(id)) of \(app): \(others), refused (pushpool dead list), or "
        + "ended longer ago than jobs.retention_hours says")
  }
}
