package import Model

/// The meaning of the answer to a request of several pushes.
package enum BatchClassification: Sendable, Equatable {
  /// One classification holds for each push of the request.
  case all(Classification)
  /// The network refuses the request because of some of its pushes. Parts of it are sent as requests of their own, until one
  /// push is alone in a request, whose answer decides; no attempt is burned.
  /// - Parameter token: the device token that the network blames; nil when it does not say which.
  case split(reason: String, token: String? = nil)
}
