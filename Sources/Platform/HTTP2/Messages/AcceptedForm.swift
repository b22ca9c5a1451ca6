internal import Glibc

/// The form of the body of a 200 by which a peer accepts a request. A 200 of another form came from somebody else: a
/// gateway's page, say.
package enum AcceptedForm: Sendable {
  /// No body at all.
  case empty
  /// A JSON object (RFC 8259) whose first member has this name and is a text that begins so. What comes in another order, or in
  /// pieces, is left to whoever submitted.
  case object(firstMember: StaticString, beginning: StaticString)
  /// Whoever submitted judges it.
  case judged

  /// Whether a piece of a body says by itself that the request was accepted. It is looked at in place, for it is asked of
  /// each answer, and no further than its beginning.
  package func isRecognised(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard case .object(let name, let beginning) = self else { return false }
    let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(HTTP2Limits.recognisedBytesMax))
    let nameCount = name.utf8CodeUnitCount
    guard let opening = Self.next(bytes, 0), bytes[opening] == UInt8(ascii: "{"),
      let start = Self.next(bytes, opening + 1), start + nameCount + 2 < bytes.count,
      bytes[start] == Self.quote, bytes[start + nameCount + 1] == Self.quote,
      memcmp(bytes.baseAddress! + start + 1, name.utf8Start, nameCount) == 0,
      let colon = Self.next(bytes, start + nameCount + 2), bytes[colon] == UInt8(ascii: ":"),
      let value = Self.next(bytes, colon + 1)
    else { return false }
    let count = beginning.utf8CodeUnitCount
    return bytes[value] == Self.quote && value + 1 + count <= bytes.count
      && memcmp(bytes.baseAddress! + value + 1, beginning.utf8Start, count) == 0
  }

  /// Whether a body has that form; one that its submitter judges never has.
  /// - Parameter isRecognised: whether a piece of it was.
  package func isMet(byBodyOf bytes: Int, isRecognised: Bool) -> Bool {
    switch self {
    case .empty: bytes == 0
    case .object: isRecognised
    case .judged: false
    }
  }

  private static let quote = UInt8(ascii: "\"")

  /// The first byte from there on that is no blank; nil when there is none.
  private static func next(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0a, 0x0d: index += 1
      default: return index
      }
    }
    return nil
  }
}
