internal import Model

/// The rules for single values of an app, wherever the app is described: in the configuration file, or in a record of Redis. The
/// errors' pointers are empty.
enum AppFieldRule {
  private static let appleIDBytes = 10
  private static let appKeyBytesMax = 64

  /// A key id or a team id of Apple's.
  static func checkAppleID(_ text: String) throws(InvalidField) {
    let count = text.utf8.count
    guard count == appleIDBytes else {
      throw InvalidField(
        pointer: "", message: "must be \(appleIDBytes) letters or digits, is \(count)")
    }
    guard TextRule.isWord(text, others: "") else {
      throw InvalidField(
        pointer: "", message: "must be \(appleIDBytes) letters or digits, holds something else")
    }
  }

  /// The topic of an app at APNs.
  static func checkBundleID(_ text: String) throws(InvalidField) {
    guard (1...Limits.apnsTopicBytesMax).contains(text.utf8.count),
      TextRule.isWord(text, others: ".-")
    else {
      throw InvalidField(
        pointer: "",
        message:
          "must be a bundle id: 1 to \(Limits.apnsTopicBytesMax) letters, digits, dots or hyphens")
    }
  }

  /// The AppKey of JPush's console.
  static func checkAppKey(_ text: String) throws(InvalidField) {
    guard (1...appKeyBytesMax).contains(text.utf8.count), TextRule.isWord(text, others: "") else {
      throw InvalidField(
        pointer: "", message: "must be 1 to \(appKeyBytesMax) letters or digits")
    }
  }

  static func checkProxyUser(_ text: String) throws(InvalidField) {
    do { try TextRule.check(text, bytesMax: ConfigurationLimits.proxyUserBytesMax) } catch {
      throw InvalidField(
        pointer: "", message: "must be the name of a user: it \(error.message)")
    }
    // HTTP parts the two at the first colon (RFC 7617, 2).
    guard !text.contains(":") else {
      throw InvalidField(pointer: "", message: "must not hold a colon")
    }
  }

  static func checkTimeZone(_ text: String) throws(InvalidField) {
    guard TimeZoneDatabase.has(text) else {
      throw InvalidField(
        pointer: "",
        message:
          "\"\(FieldPointer.printable(text))\" is no time zone of this system: write one such as Asia/Tokyo, "
          + "as in \(TimeZoneDatabase.folder)")
    }
  }

  // MARK: The advice in place of 0

  static let noPushesPerSecond =
    "nothing would ever be sent; leave it out for no limit, and stop sending with "
    + "pushpool switch off"
  static let noMessagesPerMinute =
    "nothing would ever be sent; write what the Google Cloud console gives as the "
    + "project's quota, and stop sending with pushpool switch off"
  private static let unnoticed = "a job that is enqueued again would be sent again"
  static let noRetention = "\(unnoticed); the default is 168"
  static let noNamedRetention = "\(unnoticed); the default is 24"
  static let noUnnamedRetention =
    "whoever waits for a job would not see its end; the default is 60"
}
