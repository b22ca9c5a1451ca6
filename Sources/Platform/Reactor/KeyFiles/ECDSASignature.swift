/// A signature of ECDSA on P-256, which JSON Web Tokens (RFC 7518, 3.4) and OpenSSL write in two forms.
package enum ECDSASignature {
  /// The DER (X.690, 8.3) of a signature that is r and s, 32 bytes each: no zeros in front of a number, but one before a high
  /// bit.
  /// - Returns: nil for another length.
  package static func der(ofJOSE signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 64 else { return nil }
    let numbers = integer(signature[..<32]) + integer(signature[32...])
    return [0x30, UInt8(numbers.count)] + numbers
  }

  private static func integer(_ bigEndian: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bigEndian.drop { $0 == 0 })
    if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }
}
