import Model

/// How a receiver tells a message to a topic from a direct one.
enum ReceivedTopic {
  /// Beside `aps` of APNs, in `data` of FCM, in `extras` of JPush: the topic.
  static let name = "to"
}

extension JobContent {
  /// The topic as the message names it. An event has the members of its own alone.
  var namedTopic: String? { event == nil ? topic : nil }
}
