package import Model

/// What the answer to a request of several pushes means.
package enum BatchOutcome: Sendable, Equatable {
  /// The same for each push of the request.
  case all(Outcome)
  /// The network refuses the request because of some of its pushes and does not say which. Each half is sent as a request
  /// of its own, until one push is alone in a request; no attempt is burned.
  case split(reason: String)
}
