/// The address of one app on one device. The token is opaque, its network says who understands it.
package struct DeviceToken: Hashable, Sendable {
  package let network: Network
  /// As its network's ``TokenRule`` has it stored: of APNs in lowercase.
  package let text: String

  /// Checks the characters and length of a token of `network`; the error's pointer is `/token`.
  ///
  /// A token becomes part of a request path and of Redis keys: nothing outside its network's alphabet is
  /// let in.
  package init(_ text: String, network: Network) throws(InvalidField) {
    self.text = try network.traits.token.normalised(text)
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
    network.traits.token.bytes
  }

  /// How long a token can be whose network is not said, in bytes.
  package static let bytesOfAny: ClosedRange<Int> = {
    let all = Network.allCases.map(bytes)
    return (all.map(\.lowerBound).min() ?? 1)...(all.map(\.upperBound).max() ?? 1)
  }()
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
