package import Model

/// A push that the simulator accepted, for tests to look at.
package struct AcceptedPush: Sendable, Equatable {
  package let network: Network
  package let token: String
  /// APNs: the topic. FCM: the project. JPush: the collapse ID, or without one the environment of APNs that was asked for.
  package let topic: String
  /// Counts the simulator's connections from 1.
  package let connection: Int
  package let stream: Int32
  /// Equal for equal bodies.
  package let bodyHash: UInt64
  package let acceptedAtMs: Int64
}
