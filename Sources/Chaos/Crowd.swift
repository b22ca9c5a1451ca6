import LocalServices
import Model

/// The users of a stage, one APNs installation each. Everything follows from a user's number, and the
/// number from a token: so an accept log tells whom each push reached.
struct Crowd: Sendable {
  static let tokenDigits = 64
  static let numberDigits = 16

  let app: String
  let count: Int
  /// Hexadecimal digits that the tokens begin with, for a provider's script to know them by.
  var prefix = ""
  /// What the users' names begin with: crowds of one app differ in it.
  var userPrefix = "u"

  func user(_ number: Int) -> String { userPrefix + String(number) }

  func tokenText(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    var dice = SeededDice(seed: UInt64(number))
    var text = prefix
    while text.utf8.count < Self.tokenDigits - Self.numberDigits {
      let word = String(dice.next(), radix: 16)
      text += word.prefix(Self.tokenDigits - Self.numberDigits - text.utf8.count)
    }
    return text + String(repeating: "0", count: Self.numberDigits - digits.utf8.count) + digits
  }

  func installation(_ number: Int) throws(InvalidField) -> Installation {
    Installation(
      app: app, user: user(number), token: try DeviceToken(tokenText(number), network: .apns))
  }

  /// A job for the users with these numbers. Its topic names it in the accept log.
  func job(id: String, topic: String, users: Range<Int>, more: String = "") -> [UInt8] {
    var json = Array(
      #"{"id":"\#(id)","app":"\#(app)","notification":{"title":"Chaos","body":"\#(id)"},"#.utf8)
    json += #""apns":{"topic":"\#(topic)"}\#(more),"audience":{"users":["#.utf8
    json.reserveCapacity(json.count + users.count * 10)
    for number in users {
      if number != users.lowerBound { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += user(number).utf8
      json.append(UInt8(ascii: "\""))
    }
    json += "]}}".utf8
    return json
  }
}
