internal import Glibc

/// An address of the Internet Protocol, 4 or 16 bytes.
package struct PeerAddress: Sendable, Hashable {
  let bytes: [UInt8]

  /// Nil when the text is none. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) is the IPv4 address.
  package init?(_ text: some StringProtocol) {
    // A zone, as of fe80::1%eth0, is no part of it.
    let text = String(text.prefix { $0 != "%" })
    guard text.utf8.count <= 45 else { return nil }
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: &four) { Array($0) }
      return
    }
    var sixteen = in6_addr()
    guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
    let all = withUnsafeBytes(of: &sixteen) { Array($0) }
    let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
    bytes = isMapped ? Array(all[12...]) : all
  }

  /// Whether both have the same first bits.
  func shares(_ bits: Int, with other: PeerAddress) -> Bool {
    guard bytes.count == other.bytes.count else { return false }
    return bytes.indices.allSatisfy { index in
      let wanted = min(8, max(0, bits - index * 8))
      let mask = UInt8(truncatingIfNeeded: 0xFF00 >> wanted)
      return bytes[index] & mask == other.bytes[index] & mask
    }
  }

  /// The name that its rate goes by: whoever has one IPv6 address has all of its network of 64 bits.
  var rateName: String {
    bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
  }
}
