package import Model

/// The users of a benchmark, one installation each. Everything follows from a user's number.
package struct Population: Sendable {
  package static let app = "shop"
  package let network: Network
  package let count: Int

  package init(network: Network, count: Int) {
    self.network = network
    self.count = count
  }

  package func user(_ number: Int) -> String {
    let digits = String(number)
    return "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  /// As long and as random as a real one: header compression counts letters, not only bytes.
  package func tokenText(_ number: Int) -> String {
    switch network {
    case .fcm:
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
      let random = words(number, count: 26)
      let text = (0..<152).map {
        letters[Int(truncatingIfNeeded: random[$0 / 6] >> UInt64($0 % 6 * 6)) & 63]
      }
      return String(decoding: text[..<22], as: UTF8.self) + ":APA91b"
        + String(decoding: text[22...], as: UTF8.self)
    case .apns, .jpush:
      let digits = Array("0123456789abcdef".utf8)
      let random = words(number, count: 4)
      let text = (0..<64).map {
        digits[Int(truncatingIfNeeded: random[$0 / 16] >> UInt64($0 % 16 * 4)) & 15]
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  package func installation(_ number: Int) throws(InvalidField) -> Installation {
    Installation(
      app: Self.app, user: user(number), token: try DeviceToken(tokenText(number), network: network)
    )
  }

  /// A job for the users with these numbers.
  package func job(id: String, users: Range<Int>) -> [UInt8] {
    var json = Array(
      #"{"id":"\#(id)","app":"\#(Self.app)",\#(Self.content),"audience":{"users":["#.utf8)
    json.reserveCapacity(json.count + users.count * 16)
    for number in users {
      if number != users.lowerBound { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += user(number).utf8
      json.append(UInt8(ascii: "\""))
    }
    json += "]}}".utf8
    return json
  }

  /// Makes a payload of about 300 bytes.
  static let content = """
    "notification":{"title":"Your order is on its way",\
    "body":"It left our warehouse this morning and arrives tomorrow between ten and twelve. \
    Tap to follow the van on the map.",\
    "sound":"default","data":{"order":"2026-0042-7781","screen":"tracking","carrier":"van-17"}}
    """

  /// SplitMix64 (Steele, Lea and Flood, 2014), whose outputs for different counters all differ.
  private func words(_ number: Int, count: Int) -> [UInt64] {
    (0..<count).map { index in
      var word = (UInt64(number) << 8 | UInt64(index)) &* 0x9e37_79b9_7f4a_7c15
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return word ^ word >> 31
    }
  }
}
