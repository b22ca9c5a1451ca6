/// Something that an operator can switch off for the whole fleet: nothing begins to be sent of it until it is on
/// again, and what was to be sent waits.
///
/// What the next kind needs stands in CONTRIBUTING.md.
package enum KillSwitch: Sendable, Hashable {
  case app(String)
  case network(app: String, Network)
  case user(app: String, String)
  /// The jobs that tell of events in this bucket.
  case bucket(app: String, String)
  /// The jobs to this topic.
  case topic(app: String, String)

  /// From a field of the HASH: `app|shop`, `network|shop|apns`, `user|shop|u1`, `bucket|shop|orders`,
  /// `topic|shop|news`; nil for any other.
  /// An app has no bar in its name, a user or bucket may.
  package init?(field: String) {
    let parts = field.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count >= 2, !parts[1].isEmpty else { return nil }
    switch (parts[0], parts.count) {
    case ("app", 2): self = .app(parts[1])
    case ("network", 3):
      guard let network = Network(rawValue: parts[2]) else { return nil }
      self = .network(app: parts[1], network)
    case ("user", 3) where !parts[2].isEmpty: self = .user(app: parts[1], parts[2])
    case ("bucket", 3) where !parts[2].isEmpty: self = .bucket(app: parts[1], parts[2])
    case ("topic", 3) where !parts[2].isEmpty: self = .topic(app: parts[1], parts[2])
    default: return nil
    }
  }

  package var field: String {
    switch self {
    case .app(let app): "app|\(app)"
    case .network(let app, let network): "network|\(app)|\(network.rawValue)"
    case .user(let app, let user): "user|\(app)|\(user)"
    case .bucket(let app, let bucket): "bucket|\(app)|\(bucket)"
    case .topic(let app, let topic): "topic|\(app)|\(topic)"
    }
  }

  package var app: String {
    switch self {
    case .app(let app), .network(let app, _), .user(let app, _), .bucket(let app, _),
      .topic(let app, _):
      app
    }
  }
}
