package import Model

/// One installation as the lanes read it: a line of the user's STRING,
/// `network[.kind] \t environment \t generation \t updated_at_ms \t token`. Borrowed: valid as long as its bytes.
package struct BindingLine {
  package let network: Network
  /// The kind of push that the token is for.
  package let kind: TokenKind
  package let environment: PushEnvironment
  /// Changes with every install of the token; a verdict about another generation removes nothing.
  package let generation: UInt64
  package let updatedAtMs: Int64
  package let token: UnsafeRawBufferPointer

  /// Nil when the line is malformed.
  package init?(_ line: UnsafeRawBufferPointer) {
    var fields = TabFields(line)
    guard let place = fields.next().flatMap({ Self.place($0) }),
      let environment = fields.next().flatMap({ PushEnvironment(spelt: $0) }),
      let generation = fields.nextNumber(), let updated = fields.nextNumber(),
      let updatedAtMs = Int64(exactly: updated)
    else { return nil }
    (network, kind) = place
    self.environment = environment
    self.generation = generation
    self.updatedAtMs = StoredNumber.instantMs(updatedAtMs)
    token = fields.remainder
    guard !token.isEmpty else { return nil }
  }

  /// Nil for a network or a kind that is not known.
  private static func place(
    _ field: UnsafeRawBufferPointer
  ) -> (network: Network, kind: TokenKind)? {
    guard let dot = field.offset(of: UInt8(ascii: ".")) else {
      return Network(spelt: field).map { ($0, .alert) }
    }
    guard let network = Network(spelt: UnsafeRawBufferPointer(rebasing: field[..<dot])),
      let kind = TokenKind(spelt: UnsafeRawBufferPointer(rebasing: field[(dot + 1)...]))
    else { return nil }
    return (network, kind)
  }
}

/// The installations of one user, borrowed from a reply. Malformed lines, which only a foreign hand can have
/// written, are passed over.
package struct BindingLines: Sequence, IteratorProtocol {
  private var lines: SegmentLines

  package init(_ bytes: UnsafeRawBufferPointer) { lines = SegmentLines(bytes) }

  package mutating func next() -> BindingLine? {
    while let line = lines.next() {
      if let binding = BindingLine(line) { return binding }
    }
    return nil
  }
}
