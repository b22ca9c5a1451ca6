/// Users of an app that Redis keeps in order for the jobs to them (Functions/index.lua).
package enum AudienceIndex: Sendable, Equatable {
  /// Those who have an installation.
  case all
  /// Those who subscribe to a topic.
  case topic(String)
  /// Those who have an installation in a channel.
  case channel(String)

  private static let topicPrefix = "topic:"

  /// What the functions call it.
  package var name: String {
    switch self {
    case .all: "all"
    case .topic(let topic): Self.topicPrefix + topic
    // A colon in its name would make it part of another's keys.
    case .channel(let channel):
      "channel:" + channel.replacing("%", with: "%25").replacing(":", with: "%3A")
    }
  }

  /// The topic whose subscribers they are; nil for another index.
  package var topic: String? {
    if case .topic(let topic) = self { topic } else { nil }
  }

  /// The topic whose index is called so; nil for another index.
  static func topic(inName name: String) -> String? {
    name.hasPrefix(topicPrefix) ? String(name.dropFirst(topicPrefix.utf8.count)) : nil
  }
}
