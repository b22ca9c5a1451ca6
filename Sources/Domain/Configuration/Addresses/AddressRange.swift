internal import Glibc

/// An IP address or a network of them, such as `127.0.0.1`, `::1`, `10.0.0.0/8` or `fd00::/8`.
package struct AddressRange: Sendable, Equatable {
  /// 4 or 16 bytes, in the order of the network.
  private let bytes: [UInt8]
  /// How many bits of it count.
  private let bits: Int

  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
    var bits = bytes.count * 8
    if parts.count == 2 {
      let digits = parts[1].utf8
      guard (1...3).contains(digits.count), digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        let number = Int(parts[1]), (0...bits).contains(number)
      else { return nil }
      bits = number
    }
    self.bytes = bytes
    self.bits = bits
  }

  /// Whether an address, as text, is in it. One of IPv4 that is written as one of IPv6 (`::ffff:10.0.0.1`) is one of IPv4.
  package func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
    let whole = bits / 8
    guard other[..<whole] == bytes[..<whole] else { return false }
    let rest = bits % 8
    guard rest > 0 else { return true }
    let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
    return other[whole] & mask == bytes[whole] & mask
  }

  /// Whether a text is an address.
  package static func isAddress(_ text: String) -> Bool { bytes(of: text) != nil }

  private static func bytes(of text: String) -> [UInt8]? {
    // inet_pton(3) would read up to a NUL.
    guard text.utf8.count <= ConfigurationLimits.addressBytesMax, !text.utf8.contains(0) else {
      return nil
    }
    var four = [UInt8](repeating: 0, count: 4)
    if inet_pton(AF_INET, text, &four) == 1 { return four }
    var sixteen = [UInt8](repeating: 0, count: 16)
    guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return Array(sixteen[..<12]) == mapped ? Array(sixteen[12...]) : sixteen
  }
}
