/// What the simulated FCM reads of a request body: the target, and whether the rest may stand.
struct FCMMessage {
  /// Points into the body.
  let token: UnsafeRawBufferPointer
  let isDryRun: Bool

  private static let fieldNames: [StaticString] = [
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions",
    "token", "topic", "condition",
  ]

  /// - Throws: INVALID_ARGUMENT, as FCM words it.
  init(body: UnsafeRawBufferPointer) throws(FCMError) {
    var walker = JSONWalker(body)
    var token: UnsafeRawBufferPointer?
    var isDryRun = false
    var messageBytes: Int?
    var complaint: FCMError?
    let isWellFormed = walker.forEachMember { key, walker in
      if key.equals("message") {
        guard walker.peekKind() == .object else { return false }
        let start = walker.position
        let isMessage = Self.walkMessage(&walker, &token, &complaint)
        messageBytes = walker.position - start
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
    guard let messageBytes else {
      throw Self.invalid("Message is missing.", "message")
    }
    guard let token else {
      throw Self.invalid("Recipient of the message is not set.", "message.token")
    }
    guard messageBytes - token.count <= SimulatorLimits.fcmMessageBytesMax else {
      throw Self.invalid("Android message is too big", "message")
    }
    guard Self.isToken(token) else {
      throw FCMError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "The registration token is not a valid FCM registration token")
    }
    self.token = token
    self.isDryRun = isDryRun
  }

  private static func walkMessage(
    _ walker: inout JSONWalker, _ token: inout UnsafeRawBufferPointer?,
    _ complaint: inout FCMError?
  ) -> Bool {
    walker.forEachMember { key, walker in
      if key.equals("token") {
        token = walker.string()
        return token != nil
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
