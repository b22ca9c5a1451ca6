/// Finds where a JSON value ends, without reading what it says. It can be given the value in pieces.
struct ElementScanner {
  enum Result: Equatable {
    /// The value ends before this byte of the piece.
    case ended(Int)
    /// The byte of the piece that cannot stand where it does.
    case broken(Int)
    /// The value goes on behind the piece.
    case open
  }

  /// How deep brackets are told apart. Those below it are only counted: the parser refuses such a value.
  private static let kindsMax = 64

  private var depth: Int
  /// A bit for each open bracket, 1 for that of an object; the lowest is the innermost.
  private var kinds: UInt64
  private var isInString = false
  private var isEscaped = false
  /// Whether it began with neither a bracket nor a quotation mark.
  private var isWord = false
  private var hasBegun: Bool

  /// Before a value.
  init() {
    depth = 0
    kinds = 0
    hasBegun = false
  }

  /// Inside an object, behind one of its members.
  static func insideObject() -> ElementScanner {
    var scanner = ElementScanner()
    scanner.depth = 1
    scanner.kinds = 1
    scanner.hasBegun = true
    return scanner
  }

  mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>.SubSequence) -> Result {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      if isInString {
        guard endsString(byte) else { continue }
        if depth == 0 { return .ended(index - bytes.startIndex) }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        hasBegun = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): open(isObject: byte == UInt8(ascii: "{"))
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if isWord, depth == 0 { return .ended(index - 1 - bytes.startIndex) }
        guard close(isObject: byte == UInt8(ascii: "}")) else {
          return .broken(index - 1 - bytes.startIndex)
        }
        if depth == 0 { return .ended(index - bytes.startIndex) }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
        guard depth == 0 else { continue }
        return isWord ? .ended(index - 1 - bytes.startIndex) : .broken(index - 1 - bytes.startIndex)
      default:
        if !hasBegun { isWord = true }
        hasBegun = true
      }
    }
    return .open
  }

  private mutating func endsString(_ byte: UInt8) -> Bool {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      return true
    }
    return false
  }

  private mutating func open(isObject: Bool) {
    hasBegun = true
    depth += 1
    if depth <= Self.kindsMax { kinds = kinds << 1 | (isObject ? 1 : 0) }
  }

  /// - Returns: false when another bracket is open, or none.
  private mutating func close(isObject: Bool) -> Bool {
    guard depth > 0 else { return false }
    if depth <= Self.kindsMax {
      guard kinds & 1 == (isObject ? 1 : 0) else { return false }
      kinds >>= 1
    }
    depth -= 1
    return true
  }
}
