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
