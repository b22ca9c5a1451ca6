/// The parts of a request body that the simulated JPush reads: the targets, and whether the rest may stand
/// (docs.jiguang.cn/jpush/server/push/rest_api_v3_push).
struct JPushRequest {
  /// The IDs of the receivers, which point into the body.
  let registrationIDs: [UnsafeRawBufferPointer]
  let cid: UnsafeRawBufferPointer?
  let collapseID: UnsafeRawBufferPointer?
  let isForProduction: Bool

  private static let known: [StaticString] = [
    "cid", "platform", "audience", "notification", "message", "sms_message", "options",
    "notification_3rd", "inapp_message", "live_activity", "callback",
  ]

  /// - Parameter appKey: whose cids begin with it.
  init(body: UnsafeRawBufferPointer, appKey: String) throws(JPushError) {
    var walker = JSONWalker(body)
    var content = JPushContent()
    var targets: [UnsafeRawBufferPointer] = []
    var hasAudience = false
    var hasPlatform = false
    var cid: UnsafeRawBufferPointer?
    let isWellFormed = walker.forEachMember { key, walker in
      guard Self.known.contains(where: { key.equals($0) }) else {
        content.complain(.unsupportedKey, "The key \(key.text) is not supported")
        return walker.skipValue()
      }
      if key.equals("cid") {
        cid = walker.string()
        return cid != nil
      }
      if key.equals("platform") {
        hasPlatform = true
        return Self.walkPlatform(&walker, &content)
      }
      if key.equals("audience") {
        hasAudience = true
        return Self.walkAudience(&walker, &targets, &content)
      }
      return content.walk(key, &walker)
    }
    guard isWellFormed, walker.isAtEnd() else {
      throw JPushError(.invalidParameter, "The body is not valid JSON")
    }
    try content.check()
    guard hasPlatform, hasAudience else {
      throw JPushError(.missingParameter, "platform and audience are required")
    }
    guard (1...SimulatorLimits.jpushRegistrationIDsMax).contains(targets.count) else {
      throw JPushError(.invalidParameter, "registration_id takes 1 to 1000 values")
    }
    for id in targets where !Self.isRegistrationID(id) { throw .invalid(id) }
    if let cid, !Self.isCID(cid, of: appKey) {
      throw JPushError(.invalidParameter, "The cid is invalid!")
    }
    registrationIDs = targets
    self.cid = cid
    collapseID = content.collapseID
    isForProduction = content.isForProduction
  }

  private static func walkPlatform(
    _ walker: inout JSONWalker, _ content: inout JPushContent
  ) -> Bool {
    let names: [StaticString] = ["android", "ios", "hmos", "quickapp", "winphone"]
    guard walker.peekKind() == .array else {
      guard let name = walker.string() else { return false }
      if !name.equals("all") { content.complain(.invalidParameter, "The platform is invalid!") }
      return true
    }
    return walker.forEachElement { walker in
      guard let name = walker.string() else { return false }
      if !names.contains(where: { name.equals($0) }) {
        content.complain(.invalidParameter, "The platform is invalid!")
      }
      return true
    }
  }

  private static func walkAudience(
    _ walker: inout JSONWalker, _ targets: inout [UnsafeRawBufferPointer],
    _ content: inout JPushContent
  ) -> Bool {
    guard walker.peekKind() == .object else {
      content.complain(.invalidParameter, "The audience is not simulated: use registration_id")
      return walker.skipValue()
    }
    return walker.forEachMember { key, walker in
      guard key.equals("registration_id") else {
        content.complain(.invalidParameter, "The audience is not simulated: use registration_id")
        return walker.skipValue()
      }
      return walker.forEachElement { walker in
        guard let id = walker.string() else { return false }
        targets.append(id)
        return true
      }
    }
  }

  private static func isRegistrationID(_ id: UnsafeRawBufferPointer) -> Bool {
    guard (1...SimulatorLimits.jpushRegistrationIDBytesMax).contains(id.count) else { return false }
    return id.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
      default: false
      }
    }
  }

  /// `{appkey}-{uuid}`.
  private static func isCID(_ cid: UnsafeRawBufferPointer, of appKey: String) -> Bool {
    let prefix = Array("\(appKey)-".utf8)
    guard cid.starts(with: prefix) else { return false }
    return cid.dropping(prefix.count).isUUID
  }
}
