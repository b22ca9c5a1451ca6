package import Model

/// Whose a token is.
package struct TokenBinding: Sendable, Equatable {
  package let user: String
  package let environment: PushEnvironment
  /// The kind of push that the token is for.
  package let kind: TokenKind
  package let generation: UInt64
  package let updatedAtMs: Int64
}
