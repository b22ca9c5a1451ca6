internal import LocalServices
internal import Model

/// The content and audience of the demo: invented users with invented devices, some of which are gone or slow.
struct DemoCampaign {
  static let app = "shop"
  static let jobID = "spring-sale"

  /// Tokens that begin so get the answer that the simulator's script has for them.
  enum Prefix {
    /// APNs: 410 Unregistered. Hexadecimal, as every APNs token.
    static let deadAPNs = "dead"
    /// FCM: 404 UNREGISTERED.
    static let deadFCM = "gone-"
    /// APNs: 503 at the first try.
    static let busyAPNs = "b5b5"
    /// FCM: the stream is refused unprocessed at the first try.
    static let busyFCM = "busy-"
    /// JPush: 400 with 1011. Letters and digits, as every registration ID.
    static let deadJPush = "gone"
  }

  let installations: Int
  let users: Int
  /// Users of the audience that never installed the app: counted, and no error.
  let usersWithout: Int

  init(installations: Int, users: Int) {
    self.installations = installations
    self.users = users
    usersWithout = max(1, users / 100)
  }

  /// How many of 100 installations are gone, and how many meet a busy network.
  private static let goneOf100 = 3
  private static let busyOf100 = 2

  func isGone(_ index: Int) -> Bool { index % 100 < Self.goneOf100 }

  func isBusy(_ index: Int) -> Bool {
    (Self.goneOf100..<Self.goneOf100 + Self.busyOf100).contains(index % 100)
  }

  /// The devices of one network.
  private struct Devices {
    let network: Network
    /// How many of so many phones; see ``phones``.
    let share: Int
    // The beginnings of tokens: of devices that are gone, of those that meet a busy network, and of the others.
    let gone: String
    let busy: String
    let live: String
    /// The part between a token's beginning and its number.
    let middle: String
  }

  /// Three of five phones are of one maker, and one is from where there is no FCM.
  private static let devices = [
    Devices(
      network: .apns, share: 3, gone: Prefix.deadAPNs, busy: Prefix.busyAPNs, live: "a0a0",
      middle: String(repeating: "5e", count: 24)),
    Devices(
      network: .fcm, share: 1, gone: Prefix.deadFCM, busy: Prefix.busyFCM, live: "live-",
      middle: "demo:APA91b" + String(repeating: "x", count: 100)),
    Devices(
      network: .jpush, share: 1, gone: Prefix.deadJPush, busy: "140f", live: "140f",
      middle: "e1d"),
  ]

  private static let phones = devices.reduce(0) { $0 + $1.share }

  /// The networks' names for people.
  static let networks = devices.map(\.network.traits.displayName).joined(separator: ", ")

  /// Independent of what the index says of a device's health.
  private func devices(_ index: Int) -> Devices {
    var phone = index / 100 % Self.phones
    for devices in Self.devices {
      guard phone >= devices.share else { return devices }
      phone -= devices.share
    }
    return Self.devices[0]
  }

  func busyCount(_ network: Network) -> Int {
    (0..<installations).count { isBusy($0) && devices($0).network == network }
  }

  func token(_ index: Int) -> DeviceToken {
    let devices = devices(index)
    let number = String(index, radix: 16)
    let digits = String(repeating: "0", count: max(0, 12 - number.count)) + number
    let beginning =
      isGone(index) ? devices.gone : isBusy(index) ? devices.busy : devices.live
    return DeviceToken(
      stored: beginning + devices.middle + digits, network: devices.network)
  }

  /// A user who still has a device when the campaign is over, if there is one.
  var reachedUser: String { user((0..<installations).first { !isGone($0) } ?? 0) }

  private func user(_ index: Int) -> String { "user-\(index % users + 1)" }

  /// One line of the import.
  func line(_ index: Int, installedAtMs: Int64) -> JSONValue {
    var installation = Installation(
      app: Self.app, user: user(index), token: token(index),
      device: Installation.Device(type: index < users ? "phone" : "tablet"))
    installation.updatedAtMs = installedAtMs
    return installation.json()
  }

  /// The job as a producer would enqueue it.
  func job() -> [UInt8] {
    let users = (1...users).map { JSONValue.string("user-\($0)") }
    let others = (1...usersWithout).map { JSONValue.string("visitor-\($0)") }
    let job: JSONObject = [
      "id": .string(Self.jobID), "app": .string(Self.app),
      "audience": .object(["users": .array(users + others)]),
      "notification": .object([
        "title": .string("Spring sale"), "body": .string("Everything must go."),
        "sound": .string("default"),
      ]),
      "collapse_id": .string("sale"), "ttl_seconds": .integer(3_600),
    ]
    return JSONValue.object(job).bytes()
  }
}
