package import Model

/// The users of a benchmark and their installations. Everything follows from a number.
package struct Population: Sendable {
  package static let app = "shop"
  /// Returns the app of this number among several; 0 is the one of a population.
  static func app(_ number: Int) -> String { number == 0 ? app : "\(app)-\(number)" }
  /// Installations take turns with them.
  package let networks: [Network]
  package let users: Int
  package let devicesPerUser: Int
  /// How many of each hundred installations have a token that the simulator calls dead.
  package let deadPercent: Int
  /// The users from this number on have tokens that are found again in an accept log.
  package let markedFrom: Int
  /// The languages of installations, in turn; they tell none when this is empty.
  package var languages: [String] = []

  package static let deadPrefix = "deadbeef"
  package static let markPrefix = "f00dcafe"
  /// The digits of a token, as many as JPush's registration IDs have. The first 16 tell all of a population apart.
  private static let jpushTokenDigits = 19

  package init(
    networks: [Network], users: Int, devicesPerUser: Int = 1, deadPercent: Int = 0,
    markedFrom: Int = .max
  ) {
    self.networks = networks
    self.users = users
    self.devicesPerUser = devicesPerUser
    self.deadPercent = deadPercent
    self.markedFrom = markedFrom
  }

  package var installations: Int { users * devicesPerUser }

  /// The installations of these users.
  package func installations(of users: Range<Int>) -> Range<Int> {
    users.lowerBound * devicesPerUser..<users.upperBound * devicesPerUser
  }

  package func isDead(_ number: Int) -> Bool { number % 100 < deadPercent }

  package func network(_ number: Int) -> Network { networks[number % networks.count] }

  package func user(_ number: Int) -> String {
    let digits = String(number)
    return "user-" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  /// Returns a token as long and as random as a real one: header compression counts letters, not only bytes.
  package func tokenText(_ number: Int) -> String {
    let text =
      switch network(number) {
      case .fcm: fcmToken(number)
      case .jpush: String(apnsToken(number).prefix(Self.jpushTokenDigits))
      default: apnsToken(number)
      }
    guard let prefix = prefix(number) else { return text }
    return prefix + text.dropFirst(prefix.count)
  }

  private func prefix(_ number: Int) -> String? {
    if isDead(number) { return Self.deadPrefix }
    return number / devicesPerUser >= markedFrom ? Self.markPrefix : nil
  }

  private func fcmToken(_ number: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let random = words(number, count: 26)
    let text = (0..<152).map {
      letters[Int(truncatingIfNeeded: random[$0 / 6] >> UInt64($0 % 6 * 6)) & 63]
    }
    return String(decoding: text[..<22], as: UTF8.self) + ":APA91b"
      + String(decoding: text[22...], as: UTF8.self)
  }

  private func apnsToken(_ number: Int) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let random = words(number, count: 4)
    let text = (0..<64).map {
      digits[Int(truncatingIfNeeded: random[$0 / 16] >> UInt64($0 % 16 * 4)) & 15]
    }
    return String(decoding: text, as: UTF8.self)
  }

  package func installation(
    _ number: Int, app: String = Self.app
  ) throws(InvalidField) -> Installation {
    Installation(
      app: app, user: user(number / devicesPerUser),
      token: try DeviceToken(tokenText(number), network: network(number)),
      device: Installation.Device(
        language: languages.isEmpty ? nil : languages[number % languages.count]))
  }

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
