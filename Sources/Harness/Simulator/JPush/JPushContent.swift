/// The content of a request to the simulated JPush: which members it has, of which kind and how long
/// (docs.jiguang.cn/jpush/server/push/rest_api_v3_push).
struct JPushContent {
  private typealias Member = (name: StaticString, kinds: [JSONWalker.Kind])

  private static let android: [Member] = [
    ("alert", [.string]), ("title", [.string]), ("builder_id", [.number]),
    ("channel_id", [.string]), ("category", [.string]), ("priority", [.number]),
    ("style", [.number]), ("alert_type", [.number]), ("big_text", [.string]),
    ("inbox", [.object]), ("big_pic_path", [.string]), ("extras", [.object]),
    ("large_icon", [.string]), ("small_icon_uri", [.string]), ("icon_bg_color", [.string]),
    ("intent", [.object]), ("uri_activity", [.string]), ("uri_action", [.string]),
    ("badge_add_num", [.number]), ("badge_set_num", [.number]), ("badge_class", [.string]),
    ("sound", [.string]), ("show_begin_time", [.string]), ("show_end_time", [.string]),
    ("display_foreground", [.string]), ("url", [.string]),
  ]
  private static let ios: [Member] = [
    ("alert", [.string, .object]), ("sound", [.string, .object]), ("badge", [.number, .string]),
    ("content-available", [.literal]), ("mutable-content", [.literal]), ("category", [.string]),
    ("thread-id", [.string]), ("interruption-level", [.string]), ("extras", [.object]),
  ]
  private static let message: [Member] = [
    ("msg_content", [.string]), ("title", [.string]), ("content_type", [.string]),
    ("extras", [.object]),
  ]
  private static let options: [Member] = [
    ("sendno", [.number]), ("time_to_live", [.number]), ("override_msg_id", [.number]),
    ("apns_production", [.literal]), ("apns_collapse_id", [.string]),
    ("big_push_duration", [.number]), ("third_party_channel", [.object]),
    ("classification", [.number]), ("target_event", [.array]), ("test_message", [.literal]),
    ("receipt_id", [.string]), ("active_push", [.literal]), ("need_backup", [.literal]),
    ("business_operation_code", [.string]), ("notification_3rd_ver", [.string]),
    ("test_model", [.literal]),
  ]
  private static let notification: [StaticString] = [
    "alert", "android", "ios", "hmos", "quickapp", "winphone", "voip",
  ]

  /// The first thing that is wrong.
  private var complaint: JPushError?
  private var hasNotification = false
  private var hasMessage = false
  private var hasMessageContent = false
  private var hasCommonAlert = false
  private var lacksAlert = false
  private var iosBytes = 0
  private var androidBytes = 0
  /// Which APNs it asks for.
  private(set) var isForProduction = true
  /// Points into the body; nil when the request has none.
  private(set) var collapseID: UnsafeRawBufferPointer?

  mutating func complain(_ code: JPushError.Code, _ message: String) {
    if complaint == nil { complaint = JPushError(code, message) }
  }

  /// Moves past one member of the request. - Returns: false when it is no JSON.
  mutating func walk(_ key: UnsafeRawBufferPointer, _ walker: inout JSONWalker) -> Bool {
    if key.equals("notification") {
      hasNotification = true
      return walkNotification(&walker)
    }
    if key.equals("message") {
      hasMessage = true
      guard let walk = walk(&walker, "message", Self.message) else { return false }
      hasMessageContent = walk.names.contains("msg_content")
      androidBytes += walk.bytes
      return true
    }
    if key.equals("options") { return walkOptions(&walker) }
    return walker.skipValue()
  }

  /// - Throws: what is wrong with what was walked.
  func check() throws(JPushError) {
    if let complaint { throw complaint }
    guard hasNotification || hasMessage else {
      throw JPushError(.missingParameter, "notification or message is required")
    }
    if hasMessage, !hasMessageContent {
      throw JPushError(.missingParameter, "msg_content is required")
    }
    if lacksAlert, !hasCommonAlert {
      throw JPushError(.missingParameter, "alert is required")
    }
    guard iosBytes <= SimulatorLimits.jpushIOSBytesMax,
      androidBytes <= SimulatorLimits.jpushAndroidBytesMax
    else { throw JPushError(.messageTooLarge) }
  }

  private mutating func walkNotification(_ walker: inout JSONWalker) -> Bool {
    guard walker.peekKind() == .object else {
      complain(.invalidParameter, "The notification is invalid!")
      return walker.skipValue()
    }
    return walker.forEachMember { key, walker in
      guard Self.notification.contains(where: { key.equals($0) }) else {
        complain(.unsupportedKey, "The key \(key.text) is not supported")
        return walker.skipValue()
      }
      if key.equals("alert") {
        hasCommonAlert = true
        return walker.string() != nil
      }
      if key.equals("android") {
        guard let walk = walk(&walker, "android", Self.android) else { return false }
        androidBytes += walk.bytes
        if !walk.names.contains("alert") { lacksAlert = true }
        return true
      }
      if key.equals("ios") {
        guard let walk = walk(&walker, "ios", Self.ios) else { return false }
        iosBytes = #""ios":"#.utf8.count + walk.bytes
        if !walk.names.contains("alert") { lacksAlert = true }
        return true
      }
      return walker.skipValue()
    }
  }

  private mutating func walkOptions(_ walker: inout JSONWalker) -> Bool {
    var copy = walker
    guard walk(&walker, "options", Self.options) != nil else { return false }
    // What it holds is of the right kinds by now, or complained of.
    return copy.forEachMember { key, walker in
      if key.equals("apns_production") {
        isForProduction = !walker.literalIs("false")
        return walker.skipValue()
      }
      if key.equals("time_to_live"), walker.peekKind() == .number {
        let seconds = walker.integer() ?? -1
        if !(0...SimulatorLimits.jpushTimeToLiveSecondsMax).contains(seconds) {
          complain(.invalidParameter, "The time_to_live is invalid!")
        }
        return true
      }
      if key.equals("apns_collapse_id"), let id = walker.string() {
        collapseID = id
        if id.count > SimulatorLimits.collapseIDBytesMax {
          complain(.invalidParameter, "The apns_collapse_id is invalid!")
        }
        return true
      }
      return walker.skipValue()
    }
  }

  /// Moves past an object of known members.
  /// - Returns: its names and its length with the braces; nil when it is no JSON.
  private mutating func walk(
    _ walker: inout JSONWalker, _ what: String, _ known: [Member]
  ) -> (names: [String], bytes: Int)? {
    guard let kind = walker.peekKind() else { return nil }
    let start = walker.position
    guard kind == .object else {
      complain(.invalidParameter, "The \(what) is invalid!")
      return walker.skipValue() ? ([], walker.position - start) : nil
    }
    var names: [String] = []
    let isWellFormed = walker.forEachMember { key, walker in
      names.append(key.text)
      guard let member = known.first(where: { key.equals($0.name) }) else {
        complain(.unsupportedKey, "The key \(key.text) is not supported in \(what)")
        return walker.skipValue()
      }
      guard let kind = walker.peekKind() else { return false }
      if !member.kinds.contains(kind) {
        complain(.invalidParameter, "The \(key.text) of \(what) is invalid!")
      }
      return walker.skipValue()
    }
    return isWellFormed ? (names, walker.position - start) : nil
  }
}
