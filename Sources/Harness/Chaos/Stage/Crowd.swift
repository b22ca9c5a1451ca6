import LocalServices
import Model

/// The installations of a stage, one of each user unless it says otherwise. Everything follows from an
/// installation's number, and the number from a token: so an accept log tells what each push reached.
struct Crowd: Sendable {
  static let tokenDigits = 64
  static let numberDigits = 16

  let app: String
  /// Installations.
  var count: Int
  /// Installations of each user, whose numbers follow one another.
  var devicesPerUser = 1
  /// The size of a group of installations of which the second has a token with another beginning; nil for none.
  var silentEvery: Int?
  /// The beginning of those tokens, for a script that answers them never.
  static let silentPrefix = "51"
  /// Hexadecimal digits that the tokens begin with, for a provider's script to know them by.
  var prefix = ""
  /// The beginning of the users' names: crowds of one app differ in it.
  var userPrefix = "u"
  /// Whether every other installation is for development.
  var hasDevelopment = false
  /// The tokens have a form that each network takes. FCM's accepts name no job: so a user of it may get one.
  var network = Network.apns

  /// Whether jobs raise its badges.
  var raisesBadges = false
  private static let badges = 40

  /// Returns the badge that an installation shows before any job: neighbours differ, and a request of many pushes holds
  /// those of several chunks.
  func firstBadge(_ number: Int) -> Int { raisesBadges ? number % Self.badges : 0 }

  /// The channel that its installations are in.
  var channel: String?

  /// In how many made-up time zones its installations are: each in the one behind its neighbour's.
  var timeZones = 0

  /// Whose installation it is.
  func user(_ number: Int) -> String { userPrefix + String(number / devicesPerUser) }

  func isSilent(_ number: Int) -> Bool { silentEvery.map { number % $0 == 1 } ?? false }

  func tokenText(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    var dice = SeededDice(seed: UInt64(number))
    var text = isSilent(number) ? Self.silentPrefix : prefix
    while text.utf8.count < Self.tokenDigits - Self.numberDigits {
      let word = String(dice.next(), radix: 16)
      text += word.prefix(Self.tokenDigits - Self.numberDigits - text.utf8.count)
    }
    return text + String(repeating: "0", count: Self.numberDigits - digits.utf8.count) + digits
  }

  func installation(_ number: Int) throws(InvalidField) -> Installation {
    var installation = Installation(
      app: app, user: user(number), token: try DeviceToken(tokenText(number), network: network),
      environment: hasDevelopment && number % 2 == 1 ? .development : .production,
      channels: channel.map { [$0] } ?? [])
    if raisesBadges { installation.badge = firstBadge(number) }
    if timeZones > 0 {
      installation.device.timeZone = TimeZoneFolder.name(number % timeZones, of: timeZones)
    }
    return installation
  }

  /// A job for an audience of which Redis knows the users.
  /// - Parameters:
  ///   - audience: its one member, as JSON.
  ///   - more: members of the job, each with a comma before it.
  func job(id: String, topic: String, audience: String, more: String = "") -> [UInt8] {
    Array(
      #"{"id":"\#(id)","app":"\#(app)","notification":{"title":"Chaos","body":"\#(id)"},"#.utf8)
      + Array(#"\#(name(topic))\#(more),"audience":{\#(audience)}}"#.utf8)
  }

  /// Returns the member of an audience that names these installations.
  func places(_ numbers: Range<Int>) -> String {
    let places = numbers.map {
      #"{"network":"\#(network.rawValue)","token":"\#(tokenText($0))"}"#
    }
    return #""installations":[\#(places.joined(separator: ","))]"#
  }

  /// The member by which the accept log names a job: only APNs has topics.
  private func name(_ topic: String) -> String {
    network == .apns ? #""apns":{"topic":"\#(topic)"}"# : #""collapse_id":"\#(topic)""#
  }

  /// A job for the users of the installations with these numbers, for all that they have. Its topic names it in the
  /// accept log.
  func job(id: String, topic: String, users: Range<Int>, more: String = "") -> [UInt8] {
    let badge = raisesBadges ? #","badge":"+1""# : ""
    var json = Array(
      #"{"id":"\#(id)","app":"\#(app)","notification":{"title":"Chaos","body":"\#(id)"\#(badge)},"#
        .utf8
    )
    json += #"\#(name(topic))\#(more),"audience":{"users":["#.utf8
    json.reserveCapacity(json.count + users.count * 10)
    for number in stride(from: users.lowerBound, to: users.upperBound, by: devicesPerUser) {
      if number != users.lowerBound { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += user(number).utf8
      json.append(UInt8(ascii: "\""))
    }
    json += "]}}".utf8
    return json
  }
}
