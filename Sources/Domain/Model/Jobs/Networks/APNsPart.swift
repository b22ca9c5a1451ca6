/// The part of a job for APNs alone, merged over the common notification.
package struct APNsPart: Sendable, Equatable {
  /// Merged into the payload; `aps` within it is merged member by member.
  package var payload: JSONObject?
  package var pushType: APNsPushType?
  /// In place of the topic of the configuration.
  package var topic: String?
  package var priority: APNsPriority?

  package init(
    payload: JSONObject? = nil, pushType: APNsPushType? = nil, topic: String? = nil,
    priority: APNsPriority? = nil
  ) {
    self.payload = payload
    self.pushType = pushType
    self.topic = topic
    self.priority = priority
  }
}
