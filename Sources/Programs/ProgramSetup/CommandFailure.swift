package import Operations

/// Why a command ends without having done its work: one sentence for the person who typed it.
package struct CommandFailure: Error, CustomStringConvertible {
  package let status: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }

  /// Tells of a session with Redis that failed.
  package init(_ failure: StoreFailure) {
    let status: ExitStatus =
      switch failure.kind {
      case .invalid, .wrongType, .notFound: .badInput
      case .unavailable: .unavailable
      case .interrupted: .interrupted
      case .misconfigured: .configuration
      case .internalError: .internalError
      }
    self.init(status, failure.description)
  }
}
