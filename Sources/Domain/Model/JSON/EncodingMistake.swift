/// A text that is no JSON because of its encoding, by its first bytes (RFC 8259, 8.1; RFC 4627, 3): the sentence about it.
enum EncodingMistake: String {
  case byteOrderMark = "a byte order mark stands before the text; leave it out"
  case utf16 = "the text is in UTF-16; write it in UTF-8"
  case utf32 = "the text is in UTF-32; write it in UTF-8"

  /// Nil for a text whose encoding is not to blame.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    let first = Array(bytes.prefix(4))
    if first.starts(with: [0xEF, 0xBB, 0xBF]) {
      self = .byteOrderMark
    } else if first == [0, 0, 0xFE, 0xFF] || first == [0xFF, 0xFE, 0, 0] {
      self = .utf32
    } else if first.starts(with: [0xFE, 0xFF]) || first.starts(with: [0xFF, 0xFE]) {
      self = .utf16
    } else {
      // JSON begins with two characters of ASCII, or is one: of another encoding the other bytes are zeros.
      switch first.map({ $0 == 0 }) {
      case [true, true, true, false], [false, true, true, true]: self = .utf32
      case [true, false, true, false], [false, true, false, true]: self = .utf16
      default: return nil
      }
    }
  }
}
