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

  /// Three of five phones are of one maker, and one is from where there is no FCM; independent of what the index says
  /// of its health.
  private func network(_ index: Int) -> Network {
    switch index / 100 % 5 {
    case 0..<3: .apns
    case 3: .fcm
    default: .jpush
    }
  }

  func busyCount(_ network: Network) -> Int {
    (0..<installations).count { isBusy($0) && self.network($0) == network }
  }

  func token(_ index: Int) -> DeviceToken {
    let network = network(index)
    let number = String(index, radix: 16)
    let digits = String(repeating: "0", count: max(0, 12 - number.count)) + number
    let text: String
    switch network {
    case .apns:
      let prefix = isGone(index) ? Prefix.deadAPNs : isBusy(index) ? Prefix.busyAPNs : "a0a0"
      text = prefix + String(repeating: "5e", count: 24) + digits
    case .jpush:
      let prefix = isGone(index) ? Prefix.deadJPush : "140f"
      text = prefix + "e1d" + digits
    case .fcm:
      let prefix = isGone(index) ? Prefix.deadFCM : isBusy(index) ? Prefix.busyFCM : "live-"
      text = prefix + "demo:APA91b" + String(repeating: "x", count: 100) + digits
    }
    return DeviceToken(stored: text, network: network)
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
