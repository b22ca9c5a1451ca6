/// The address of one app on one device. The token is opaque, its network says who understands it.
package struct DeviceToken: Hashable, Sendable {
  package let network: Network
  /// APNs: lowercase hexadecimal. FCM and JPush: as given.
  package let text: String

  /// Checks the characters and length of a token of `network`; the error's pointer is `/token`.
  ///
  /// A token becomes part of a request path and of Redis keys: nothing outside its network's alphabet is
  /// let in. APNs tokens compare without case and have no fixed length.
  package init(_ text: String, network: Network) throws(InvalidField) {
    switch network {
    case .apns: self.text = try Self.apns(text)
    case .fcm: self.text = try Self.fcm(text)
    case .jpush: self.text = try Self.jpush(text)
    }
    self.network = network
  }

  /// Returns the tokens that a text can be whose network is not said: one for each network that could have it.
  /// - Throws: the rule of one network that it breaks, when no network could have it.
  package static func candidates(_ text: String) throws(InvalidField) -> [DeviceToken] {
    var tokens: [DeviceToken] = []
    var refusal: InvalidField?
    for network in Network.allCases {
      do throws(InvalidField) {
        tokens.append(try DeviceToken(text, network: network))
      } catch {
        refusal = refusal ?? error
      }
    }
    if tokens.isEmpty, let refusal { throw refusal }
    return tokens
  }

  /// A token that was checked before it was stored.
  package init(stored text: String, network: Network) {
    self.text = text
    self.network = network
  }

  /// Enough of it to tell a user's devices apart, and too little to send to: its first characters.
  package var shortened: String {
    "\(text.prefix(min(Self.shownCharactersMax, text.count / 2)))…"
  }

  private static let shownCharactersMax = 8

  /// How long a token of a network can be, in bytes.
  package static func bytes(of network: Network) -> ClosedRange<Int> {
    switch network {
    case .apns: Limits.apnsTokenBytesMin...Limits.apnsTokenBytesMax
    case .fcm: Limits.fcmTokenBytesMin...Limits.fcmTokenBytesMax
    case .jpush: Limits.jpushTokenBytesMin...Limits.jpushTokenBytesMax
    }
  }

  private static func apns(_ text: String) throws(InvalidField) -> String {
    try checkLength(text, .apns, "an APNs")
    var hasUpper = false
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): break
      case UInt8(ascii: "A")...UInt8(ascii: "F"): hasUpper = true
      default: throw refused("an APNs device token must be hexadecimal digits only")
      }
    }
    guard text.utf8.count % 2 == 0 else {
      throw refused("an APNs device token must have an even number of hexadecimal digits")
    }
    return hasUpper ? text.lowercased() : text
  }

  private static func fcm(_ text: String) throws(InvalidField) -> String {
    try checkLength(text, .fcm, "an FCM")
    guard TextRule.isWord(text, others: "_:-.%~=+") else {
      throw refused("an FCM registration token must be letters, digits and _ : - . % ~ = + only")
    }
    var previous: UInt8 = 0
    for byte in text.utf8 {
      guard byte != UInt8(ascii: ".") || previous != byte else {
        throw refused("an FCM registration token must not hold \"..\"")
      }
      previous = byte
    }
    return text
  }

  private static func jpush(_ text: String) throws(InvalidField) -> String {
    try checkLength(text, .jpush, "a JPush")
    guard TextRule.isWord(text, others: "") else {
      throw refused("a JPush registration ID must be letters and digits only")
    }
    return text
  }

  private static func checkLength(
    _ text: String, _ network: Network, _ whose: String
  ) throws(InvalidField) {
    let bytes = bytes(of: network)
    guard bytes.contains(text.utf8.count) else {
      throw refused(
        "\(whose) token must be \(bytes.lowerBound) to \(bytes.upperBound) characters, is "
          + "\(text.utf8.count)")
    }
  }

  /// The token itself is not repeated: it is as good as an address.
  private static func refused(_ message: String) -> InvalidField {
    InvalidField(pointer: "/token", message: message)
  }
}

extension DeviceToken {
  /// The digits of an APNs token that is written as iOS before 13 describes its bytes, `<740f4707 bebcf74f …>`. Apps have sent
  /// it so to their backends, and exports of Parse and others have it so.
  /// - Returns: nil for what is not between angle brackets. What is, is not checked.
  package static func digits(described text: String) -> String? {
    guard text.utf8.first == UInt8(ascii: "<"), text.utf8.last == UInt8(ascii: ">") else {
      return nil
    }
    return text.dropFirst().dropLast().filter { $0 != " " }
  }
}

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
