/// The id of a Firebase installation: FCM takes one as the `fid` of a message, in the place of a registration token.
package enum FirebaseInstallationID {
  /// 17 random bytes in base64url, without the last character (firebase-js-sdk, "generate-fid").
  private static let bytes = 22
  /// The first four bits are 0111.
  private static let firsts = UInt8(ascii: "c")...UInt8(ascii: "f")

  /// Whether a token of FCM is one. Registration tokens are longer, and have a colon.
  package static func isOne(_ token: UnsafeRawBufferPointer) -> Bool {
    guard token.count == bytes, firsts.contains(token[0]) else { return false }
    return token.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  package static func isOne(_ token: String) -> Bool {
    var token = token
    return token.withUTF8 { isOne(UnsafeRawBufferPointer($0)) }
  }
}
