/// A 64-bit fingerprint of a body for the accept log: fast and stable, not cryptographic.
enum BodyHash {
  private static let prime: UInt64 = 0x9e37_79b9_7f4a_7c15

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = prime ^ UInt64(bytes.count)
    var offset = 0
    while offset + 8 <= bytes.count {
      hash = mix(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    hash = mix(hash, rest)
    return hash ^ hash >> 32
  }

  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word).multipliedFullWidth(by: prime)
    return product.high ^ product.low
  }
}
