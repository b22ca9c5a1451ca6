import Model

/// Numbered devices and users of the app "shop".
enum Devices {
  /// An APNs token that begins with the prefix, of hexadecimal digits, and ends with the number.
  static func apns(
    _ number: Int, user: String? = nil, prefix: String = "", updatedAtMs: Int64? = nil
  ) throws -> Installation {
    let digits = String(number, radix: 16)
    let zeros = String(repeating: "0", count: 64 - prefix.count - digits.count)
    var installation = Installation(
      app: "shop", user: user ?? "u\(number)",
      token: try DeviceToken(prefix + zeros + digits, network: .apns))
    installation.updatedAtMs = updatedAtMs
    return installation
  }

  static func apns(_ numbers: Range<Int>, prefix: String = "") throws -> [Installation] {
    try numbers.map { try apns($0, prefix: prefix) }
  }

  static func fcm(
    _ number: Int, user: String? = nil, prefix: String = "token"
  ) throws -> Installation {
    Installation(
      app: "shop", user: user ?? "u\(number)",
      token: try DeviceToken("\(prefix)-\(number)-of-fcm", network: .fcm))
  }

  static func fcm(_ numbers: Range<Int>, prefix: String = "token") throws -> [Installation] {
    try numbers.map { try fcm($0, prefix: prefix) }
  }

  /// An installation that FCM knows by its Firebase installation ID.
  static func fid(
    _ number: Int, user: String? = nil, prefix: String = "cX-"
  ) throws -> Installation {
    let digits = String(number)
    let zeros = String(repeating: "0", count: 22 - prefix.count - digits.count)
    return Installation(
      app: "shop", user: user ?? "u\(number)",
      token: try DeviceToken(prefix + zeros + digits, network: .fcm))
  }

  /// An installation whose registration ID begins with the prefix and ends with the number.
  static func jpush(
    _ number: Int, user: String? = nil, prefix: String = "140fe1da"
  ) throws -> Installation {
    Installation(
      app: "shop", user: user ?? "u\(number)",
      token: try DeviceToken("\(prefix)0\(number)", network: .jpush))
  }

  static func jpush(_ numbers: Range<Int>, prefix: String = "140fe1da") throws -> [Installation] {
    try numbers.map { try jpush($0, prefix: prefix) }
  }

  /// A job to the users of these numbers; `more` is further members, each begun by a comma.
  static func job(_ id: String, _ users: Range<Int>, _ more: String = "") -> String {
    job(id, users: users.map { "u\($0)" }, more)
  }

  static func job(_ id: String, users: [String], _ more: String = "") -> String {
    let names = users.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"id": "\(id)", "app": "shop", "audience": {"users": [\(names)]},
       "notification": {"title": "Hello", "body": "World"}\(more)}
      """
  }
}
