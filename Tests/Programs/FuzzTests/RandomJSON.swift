import LocalServices
/// Random JSON from the words of the contract, so that much of it gets past the first check.
struct RandomJSON {
  static let jobs = [
    #"{"id":"sale","app":"shop","audience":{"users":["u1","u2"]},"notification":{"title":"Hello","body":"World","badge":3,"sound":"default","data":{"a":"b"}},"collapse_id":"c","ttl_seconds":60}"#,
    #"{"app":"shop","audience":{"installations":[{"network":"apns","token":"aabbccdd"},{"network":"fcm","token":"abc-def:ghi"}]},"apns":{"payload":{"aps":{"alert":"x"}},"push_type":"alert","topic":"com.example.shop","priority":5},"fcm":{"message":{"android":{"priority":"HIGH"}}},"environments":["production"],"on_unknown":"give_up","dry_run":true}"#,
    #"{"app":"shop","audience":{"users":["\u00e9\ud83d\ude00"]},"notification":{"image":"https://example.com/a.png","content_available":true,"mutable_content":true,"thread_id":"t","category":"k"},"expires_at":"2026-12-31T23:59:59Z"}"#,
  ]
  static let installations = [
    #"{"app":"shop","user":"u1","network":"apns","token":"aabbccdd","environment":"production","object_id":"o","badge":2,"channels":["a","b"],"created_at":1790000000000,"updated_at":"2026-01-01T00:00:00Z","custom":{"k":"v"}}"#,
    #"{"app":"shop","user":"u2","network":"fcm","token":"abc-def:ghi","device_type":"android","app_name":"Shop","app_version":"1.0","os_version":"15","sdk_version":"2","time_zone":"Europe/Berlin","language":"de-DE"}"#,
  ]
  static let words = [
    "id", "app", "shop", "audience", "users", "installations", "network", "apns", "fcm", "jpush",
    "token", "user", "notification", "title", "body", "badge", "data", "payload", "push_type",
    "topic",
    "priority", "message", "collapse_id", "ttl_seconds", "expires_at", "environments", "production",
    "on_unknown", "resend", "dry_run", "aps", "alert", "channels", "custom", "created_at", "u1",
    "aabbccdd", "../x", "a/b", "a?b", "", "https://example.com/", "error", "details", "reason",
    "timestamp", "Unregistered", "BadDeviceToken", "errorCode", "UNREGISTERED", "status",
  ]

  static func value(_ random: inout SeededDice, depth: Int = 0) -> String {
    switch random.below(depth > 5 ? 6 : 9) {
    case 0: return ["null", "true", "false"][random.below(3)]
    case 1: return String(random.below(100))
    case 2: return ["-1", "1e999", "0.5", "9223372036854775808", "1e-9", "-0"][random.below(6)]
    case 3: return "\"\(random.pick(words)!)\\u000\(random.below(10))\""
    case 4, 5: return "\"\(random.pick(words)!)\""
    case 6:
      let values = (0..<random.below(4)).map { _ in value(&random, depth: depth + 1) }
      return "[\(values.joined(separator: ","))]"
    default:
      let members = (0..<random.below(6)).map { _ in
        "\"\(random.pick(words)!)\":\(value(&random, depth: depth + 1))"
      }
      return "{\(members.joined(separator: ","))}"
    }
  }

  /// One of the sound documents with something put in its place, or no sound one at all.
  static func document(_ sound: [String], _ random: inout SeededDice) -> [UInt8] {
    if random.chance(percent: 20) { return Array(value(&random).utf8) }
    let document = random.pick(sound)!
    if random.chance(percent: 50) { return random.mutated(Array(document.utf8)) }
    // A whole value replaced by another.
    var parts = document.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let at = 1 + random.below(parts.count - 1)
    let rest = parts[at].firstIndex { $0 == "," || $0 == "}" } ?? parts[at].startIndex
    parts[at] = value(&random) + parts[at][rest...]
    return Array(parts.joined(separator: ":").utf8)
  }
}
