/// The lines of a segment, borrowed: each without its line break, empty ones left out.
package struct SegmentLines: Sequence, IteratorProtocol {
  private var rest: UnsafeRawBufferPointer

  package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  package mutating func next() -> UnsafeRawBufferPointer? {
    while !rest.isEmpty {
      let end = rest.offset(of: UInt8(ascii: "\n")) ?? rest.endIndex
      let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
      rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.endIndex)...])
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Writes a line of a `users` segment.
  package static func append(user: String, to segment: inout [UInt8]) {
    segment.append(contentsOf: user.utf8)
    segment.append(UInt8(ascii: "\n"))
  }
}

/// The kind of the lines of a segment.
package enum ChunkLines: String, Sendable {
  /// A user id; the last lines may be `InstallationLine`s, what is left of users that are done but for some devices.
  case users
  /// An `InstallationLine`.
  case installations
}
