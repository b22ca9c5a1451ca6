/// Users of an app that Redis keeps in order for the jobs to them (Functions/Audiences/index.lua).
package enum AudienceIndex: Sendable, Equatable {
  /// All who have an installation.
  case all
  /// The users who subscribe to a topic.
  case topic(String)
  /// The users who have an installation in a channel.
  case channel(String)

  private static let allName = "all"
  private static let topicPrefix = "topic:"
  private static let channelPrefix = "channel:"

  /// The name by which the functions call it.
  package var name: String {
    switch self {
    case .all: Self.allName
    case .topic(let topic): Self.topicPrefix + topic
    // A colon in its name would make it part of another's keys.
    case .channel(let channel):
      Self.channelPrefix + channel.replacing("%", with: "%25").replacing(":", with: "%3A")
    }
  }

  /// The index that the functions call so; nil when there is none of that name.
  package init?(name: String) {
    if name == Self.allName {
      self = .all
    } else if name.hasPrefix(Self.topicPrefix) {
      self = .topic(String(name.dropFirst(Self.topicPrefix.utf8.count)))
    } else if name.hasPrefix(Self.channelPrefix) {
      let written = name.dropFirst(Self.channelPrefix.utf8.count)
      self = .channel(
        String(written.replacing("%3A", with: ":").replacing("%25", with: "%")))
    } else {
      return nil
    }
  }

  /// The topic whose subscribers they are; nil for another index.
  package var topic: String? {
    if case .topic(let topic) = self { topic } else { nil }
  }

  /// The channel whose users they are; nil for another index.
  package var channel: String? {
    if case .channel(let channel) = self { channel } else { nil }
  }
}
