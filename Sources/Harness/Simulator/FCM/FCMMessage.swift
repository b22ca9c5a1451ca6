internal import Model

/// The parts of a request body that the simulated FCM reads: the target, and whether the rest may stand.
struct FCMMessage {
  /// The registration token or the Firebase installation ID; points into the body.
  let token: UnsafeRawBufferPointer
  let isDryRun: Bool

  private static let fieldNames: [StaticString] = [
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions",
    "token", "fid", "topic", "condition",
  ]

  /// The receiver that a message names; FCM takes one.
  private struct Target {
    let text: UnsafeRawBufferPointer
    let isFID: Bool
  }

  /// - Throws: INVALID_ARGUMENT, as FCM words it.
  init(body: UnsafeRawBufferPointer) throws(FCMError) {
    var walker = JSONWalker(body)
    var target: Target?
    var isDryRun = false
    var message: UnsafeRawBufferPointer?
    var complaint: FCMError?
    let isWellFormed = walker.forEachMember { key, walker in
      if key.equals("message") {
        guard walker.peekKind() == .object else { return false }
        let start = walker.position
        let isMessage = Self.walkMessage(&walker, &target, &complaint)
        message = body.taking(start..<walker.position)
        return isMessage
      }
      if key.equals("validate_only") || key.equals("validateOnly") {
        let start = walker.position
        guard walker.peekKind() == .literal, walker.skipValue() else { return false }
        isDryRun = body.taking(start..<walker.position).ends(with: "true")
        return true
      }
      complaint = Self.invalid(
        "Invalid JSON payload received. Unknown name \"\(key.text)\": Cannot find field.", "")
      return walker.skipValue()
    }
    guard isWellFormed && walker.isAtEnd() else {
      throw Self.invalid("Invalid JSON payload received.", "")
    }
    if let complaint { throw complaint }
    guard let message else {
      throw Self.invalid("Message is missing.", "message")
    }
    guard let target else {
      throw Self.invalid("Recipient of the message is not set.", "message.token")
    }
    guard Self.isWithinLimit(message, target) else {
      throw Self.invalid("Android message is too big", "message")
    }
    // Which of the two it is must be said rightly.
    guard Self.isToken(target.text), FirebaseInstallationID.isOne(target.text) == target.isFID
    else {
      throw FCMError(
        status: 400, code: "INVALID_ARGUMENT",
        message: target.isFID
          ? "The FID is not a valid Firebase installation ID"
          : "The registration token is not a valid FCM registration token")
    }
    token = target.text
    self.isDryRun = isDryRun
  }

  private static func walkMessage(
    _ walker: inout JSONWalker, _ target: inout Target?, _ complaint: inout FCMError?
  ) -> Bool {
    walker.forEachMember { key, walker in
      let isFID = key.equals("fid")
      if isFID || key.equals("token") {
        if target != nil {
          complaint = invalid(
            "Exactly one of token, fid, topic or condition is required", "message")
        }
        target = walker.string().map { Target(text: $0, isFID: isFID) }
        return target != nil
      }
      if key.equals("data") { return walkData(&walker, &complaint) }
      if !fieldNames.contains(where: { key.equals($0) }) {
        let message =
          "Invalid JSON payload received. Unknown name \"\(key.text)\" at 'message': "
          + "Cannot find field."
        complaint = invalid(message, "message")
      }
      return walker.skipValue()
    }
  }

  private static func walkData(_ walker: inout JSONWalker, _ complaint: inout FCMError?) -> Bool {
    guard walker.peekKind() == .object else { return false }
    return walker.forEachMember { key, walker in
      if walker.peekKind() != .string {
        complaint = invalid(
          "Invalid value at 'message.data[\(key.text)]' (TYPE_STRING)", "message.data")
      }
      return walker.skipValue()
    }
  }

  /// Whether notification and data are within FCM's limit, which counts them as they reach the device: so many bytes for a
  /// message and for each entry beside its name and value.
  private static func isWithinLimit(_ message: UnsafeRawBufferPointer, _ target: Target) -> Bool {
    let bytesMax = SimulatorLimits.fcmMessageBytesMax
    // An entry's quotes, colon and comma take as much as its framing.
    let framing = SimulatorLimits.fcmFramingBytes + 8 * notificationPrefix.count
    if message.count - target.text.count + framing <= bytesMax { return true }
    guard let object = (try? JSONParser().parse(message))?.objectValue else { return false }
    func count(_ value: JSONValue?, prefix: String) -> Int {
      (value?.objectValue?.members ?? []).reduce(0) { bytes, member in
        bytes + SimulatorLimits.fcmEntryFramingBytes + prefix.utf8.count + member.name.utf8.count
          + (member.value.stringValue?.utf8.count ?? 0)
      }
    }
    let data = max(
      count(object["data"], prefix: ""),
      count(object["android"]?.objectValue?["data"], prefix: ""))
    return SimulatorLimits.fcmFramingBytes + data
      + count(object["notification"], prefix: notificationPrefix) <= bytesMax
  }

  private static let notificationPrefix = "gcm.notification."

  private static func isToken(_ token: UnsafeRawBufferPointer) -> Bool {
    guard (8...SimulatorLimits.fcmTokenBytesMax).contains(token.count) else { return false }
    return token.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: ":"), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "~"),
        UInt8(ascii: "="), UInt8(ascii: "+"):
        true
      default: false
      }
    }
  }

  private static func invalid(_ message: String, _ field: String) -> FCMError {
    FCMError(
      status: 400, code: "INVALID_ARGUMENT", message: message, fieldViolation: field)
  }
}
