package import Model

/// Whose a token is.
package struct TokenBinding: Sendable, Equatable {
  package let user: String
  package let environment: PushEnvironment
  /// What the token is for.
  package let kind: TokenKind
  package let generation: UInt64
  package let updatedAtMs: Int64
}

extension TokenBinding {
  /// As it stands among its user's.
  package init(_ line: BindingLine, of user: UnsafeRawBufferPointer) {
    self.init(
      user: String(decoding: user, as: UTF8.self), environment: line.environment, kind: line.kind,
      generation: line.generation, updatedAtMs: line.updatedAtMs)
  }
}
