package import Model

/// One installation as the lanes read it: a line of the user's STRING,
/// `network \t environment \t generation \t updated_at_ms \t token`. Borrowed: valid as long as its bytes.
package struct BindingLine {
  package let network: Network
  package let environment: PushEnvironment
  /// Changes with every install of the token; a verdict about another generation removes nothing.
  package let generation: UInt64
  package let updatedAtMs: Int64
  package let token: UnsafeRawBufferPointer

  /// Nil when the line is malformed.
  package init?(_ line: UnsafeRawBufferPointer) {
    var fields = TabFields(line)
    guard let network = fields.next().flatMap({ Network(spelt: $0) }),
      let environment = fields.next().flatMap({ PushEnvironment(spelt: $0) }),
      let generation = fields.nextNumber(), let updated = fields.nextNumber(),
      let updatedAtMs = Int64(exactly: updated)
    else { return nil }
    self.network = network
    self.environment = environment
    self.generation = generation
    self.updatedAtMs = StoredNumber.instantMs(updatedAtMs)
    token = fields.remainder
    guard !token.isEmpty else { return nil }
  }
}
