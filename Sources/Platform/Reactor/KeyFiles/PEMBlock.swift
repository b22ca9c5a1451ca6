/// The part of a PEM text (RFC 7468) between the BEGIN and the END line, read as people have it: with blank or indented
/// lines, all on one line, or with other dashes.
struct PEMBlock {
  /// The label, for instance `PRIVATE KEY`.
  let label: String
  /// Whether headers in front say that it is encrypted (RFC 1421, as OpenSSL used to write keys).
  let isEncrypted: Bool
  let content: Base64.Content
  /// The line of the text on which it begins, from 1.
  let line: Int
  let hasEnd: Bool

  private struct Boundary {
    let label: String
    let range: Range<Int>
  }

  /// The blocks of a text, in its order.
  /// - Parameter text: as `PlainText.of` gives it.
  static func all(in text: [UInt8]) -> [PEMBlock] {
    var blocks: [PEMBlock] = []
    var position = 0
    while let begin = boundary("BEGIN", in: text, from: position) {
      let end = boundary("END", in: text, from: begin.range.upperBound)
      let next = boundary("BEGIN", in: text, from: begin.range.upperBound)?.range.lowerBound
      // The end of another block is none of this one.
      let ownEnd = end.flatMap { $0.range.lowerBound < next ?? text.count ? $0 : nil }
      let body = text[begin.range.upperBound..<(ownEnd?.range.lowerBound ?? next ?? text.count)]
      let lines = body.split(separator: UInt8(ascii: "\n"))
      blocks.append(
        PEMBlock(
          label: begin.label,
          isEncrypted: lines.contains {
            $0.contains(UInt8(ascii: ":")) && holds("ENCRYPTED", $0)
          },
          content: Base64.content(of: withoutHeaders(body)),
          line: text[..<begin.range.lowerBound].count { $0 == UInt8(ascii: "\n") } + 1,
          hasEnd: ownEnd != nil))
      position = ownEnd?.range.upperBound ?? next ?? text.count
    }
    return blocks
  }

  /// Lines such as `Proc-Type: 4,ENCRYPTED` are taken out, but not their breaks, so that lines keep their numbers.
  private static func withoutHeaders(_ body: ArraySlice<UInt8>) -> [UInt8] {
    guard body.contains(UInt8(ascii: ":")) else { return Array(body) }
    let lines = body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return Array(
      lines.map { $0.contains(UInt8(ascii: ":")) ? [] : Array($0) }.joined(separator: [
        UInt8(ascii: "\n")
      ]))
  }

  /// The next `-----BEGIN …-----` or `-----END …-----`.
  private static func boundary(_ word: String, in text: [UInt8], from start: Int) -> Boundary? {
    let letters = Array(word.utf8)
    let dash = UInt8(ascii: "-")
    var position = start
    while position + letters.count < text.count {
      guard text[position] == letters[0], text[position...].starts(with: letters) else {
        position += 1
        continue
      }
      var low = position
      while low > start, text[low - 1] == UInt8(ascii: " ") { low -= 1 }
      let dashes = text[start..<low].reversed().prefix { $0 == dash }.count
      let labelStart = position + letters.count
      let labelEnd = text[labelStart...].firstIndex { !isOfLabel($0) } ?? text.count
      let behind = text[labelEnd...].prefix { $0 == dash }.count
      if dashes >= 2, behind >= 2 {
        let label = String(decoding: text[labelStart..<labelEnd], as: UTF8.self)
        return Boundary(
          label: label.split(separator: " ").joined(separator: " "),
          range: low - dashes..<labelEnd + behind)
      }
      position += 1
    }
    return nil
  }

  private static func isOfLabel(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: " "), UInt8(ascii: "#"):
      true
    default: false
    }
  }

  private static func holds(_ word: String, _ line: ArraySlice<UInt8>) -> Bool {
    String(decoding: line, as: UTF8.self).contains(word)
  }
}
