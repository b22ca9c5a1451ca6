/// Text as it stands in a segment of a path or in a query (RFC 3986, 2.1).
enum PercentText {
  /// All but unreserved characters are encoded: a colon in a path's last segment would begin an action.
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes that a text stands for, which need not be UTF-8.
  /// - Returns: nil where a `%` has no two hexadecimal digits behind it.
  static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
    let (bytes, isWhole) = read(text)
    return isWhole ? bytes : nil
  }

  /// The text that any text stands for: a `%` without two hexadecimal digits behind it stays as it is.
  static func legible(_ text: String) -> String {
    String(decoding: read(text.utf8).bytes, as: UTF8.self)
  }

  /// - Returns: each `%XX` as its byte and all else as it is, and whether each `%` was one of these.
  private static func read(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var isWhole = true
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      var behind = rest
      if let high = behind.popFirst().flatMap(value), let low = behind.popFirst().flatMap(value) {
        bytes.append(high << 4 | low)
        rest = behind
      } else {
        bytes.append(byte)
        isWhole = false
      }
    }
    return (bytes, isWhole)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
