/// The part of a job for FCM alone, merged over the common notification.
package struct FCMPart: Sendable, Equatable {
  /// Merged into the `message` of `messages:send`; it names no target.
  package var message: JSONObject

  package init(message: JSONObject) { self.message = message }
}
