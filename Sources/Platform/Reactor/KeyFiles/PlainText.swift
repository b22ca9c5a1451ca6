/// The rest of a text with keys when the marks of editors, shells and JSON are taken away from it.
///
/// No key holds a backslash, a dash of typographers or a character of no width, so nothing is lost.
package enum PlainText {
  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  /// UTF-8 without a byte order mark. `\n` that was written as two or more characters is a line break again.
  static func of(_ bytes: [UInt8]) -> [UInt8] {
    let utf8 = utf8(bytes)
    var plain: [UInt8] = []
    plain.reserveCapacity(utf8.count)
    var position = 0
    while position < utf8.count {
      let byte = utf8[position]
      switch byte {
      case UInt8(ascii: "\\"):
        let (replacement, end) = unescaped(utf8, position)
        plain += replacement
        position = end
      case 0x80...:
        let (replacement, count) = typed(utf8[position...])
        plain += replacement
        position += count
      default:
        plain.append(byte)
        position += 1
      }
    }
    return plain
  }

  /// A text without its byte order mark. UTF-16 with its mark, as some editors of Windows save a text, becomes UTF-8.
  package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.starts(with: byteOrderMark) { return Array(bytes.dropFirst(byteOrderMark.count)) }
    guard bytes.count >= 2 else { return bytes }
    let isLittleEndian = bytes[0] == 0xff && bytes[1] == 0xfe
    guard isLittleEndian || bytes[0] == 0xfe && bytes[1] == 0xff else { return bytes }
    let units = stride(from: 2, to: bytes.count - 1, by: 2).map { at -> UInt16 in
      let (first, second) = (UInt16(bytes[at]), UInt16(bytes[at + 1]))
      return isLittleEndian ? second << 8 | first : first << 8 | second
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Returns what a run of backslashes and the letter behind it stand for, and where they end.
  private static func unescaped(_ bytes: [UInt8], _ start: Int) -> ([UInt8], Int) {
    let end = bytes[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
    guard end < bytes.count else { return ([], end) }
    switch bytes[end] {
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return ([UInt8(ascii: "\n")], end + 1)
    case UInt8(ascii: "u") where bytes[end...].starts(with: "u003d".utf8):
      return ([UInt8(ascii: "=")], end + 5)
    default:
      return ([], end)
    }
  }

  /// Returns what a character beyond ASCII was before an editor changed it, and its length.
  private static func typed(_ bytes: ArraySlice<UInt8>) -> ([UInt8], Int) {
    let three = Array(bytes.prefix(3)) + [0, 0]
    switch (three[0], three[1], three[2]) {
    // Dashes, of which word processors make one from two hyphens.
    case (0xe2, 0x80, 0x90...0x95), (0xe2, 0x88, 0x92): return (Array("--".utf8), 3)
    // A space that does not break, and characters of no width.
    case (0xc2, 0xa0, _): return ([UInt8(ascii: " ")], 2)
    case (0xe2, 0x80, 0x8b...0x8f), (0xef, 0xbb, 0xbf): return ([], 3)
    default: return (Array(bytes.prefix(1)), 1)
    }
  }
}
