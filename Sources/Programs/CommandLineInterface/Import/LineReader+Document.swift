internal import Model

extension LineReader.Line {
  /// Returns the part of a line that is to be parsed; nil for a blank one. Borrowed, as the line is.
  func document() throws(InvalidField) -> UnsafeBufferPointer<UInt8>? {
    guard case .text(var bytes) = self else {
      throw InvalidField(
        pointer: "", message: "the line is longer than \(Limits.installationBytesMax) bytes")
    }
    // What editors on Windows put before a text; several texts may have been joined to one file.
    if bytes.starts(with: ByteOrderMark.utf8) {
      bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(ByteOrderMark.utf8.count))
    }
    // A blank line, or what such an editor leaves of one.
    return bytes.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 } ? nil : bytes
  }
}
