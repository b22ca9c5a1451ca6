package import Model

/// Whose a token is.
package struct TokenBinding: Sendable, Equatable {
  package let user: String
  package let environment: PushEnvironment
  package let generation: UInt64
  package let updatedAtMs: Int64
}
