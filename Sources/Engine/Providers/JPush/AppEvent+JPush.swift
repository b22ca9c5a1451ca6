import Model

extension AppEvent {
  /// The members of a push object that tell the app of it: a custom message, and what wakes the app on iOS, where custom
  /// messages reach only an app that is open. Nothing is shown on either.
  func jpushMembers(createdAtMs: Int64) -> JSONObject {
    let extras = JSONValue.object(longNamed(createdAtMs: createdAtMs))
    return [
      "notification": [
        "ios": ["alert": .string(""), "content-available": .bool(true), "extras": extras]
      ],
      "message": ["msg_content": .string(JPushRequest.messageContent), "extras": extras],
    ]
  }
}
