internal import COpenSSL

/// RFC 4648, section 4: read between any white space and with or without its padding, and written with it.
package enum Base64 {
  package enum Content: Equatable {
    case bytes([UInt8])
    /// A character that is none of Base64's.
    /// - Parameter line: counted from 0.
    case stranger(line: Int)
  }

  package static func content(of text: [UInt8]) -> Content {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var (bits, count, line) = (UInt32(0), 0, 0)
    for character in text {
      if character == UInt8(ascii: "\n") { line += 1 }
      guard character > 0x20, character != UInt8(ascii: "=") else { continue }
      guard let digit = digit(character) else { return .stranger(line: line) }
      bits = bits << 6 | digit
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return .bytes(bytes)
  }

  package static func text(of bytes: [UInt8]) -> String {
    // OpenSSL writes a zero behind the text.
    var encoded = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&encoded, bytes, CInt(bytes.count))
    return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
  }

  private static func digit(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
