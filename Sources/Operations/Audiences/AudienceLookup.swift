internal import Model
package import Redis
package import Store

/// Tells who is in the topics and channels of an app, over the stores of all shards. It only reads, and needs no functions.
package struct AudienceLookup {
  /// The kind of group that users are in.
  package enum Kind: String, Sendable {
    case topic
    case channel

    /// The name of one of this kind; nil for another index.
    fileprivate func name(of index: AudienceIndex) -> String? {
      switch self {
      case .topic: index.topic
      case .channel: index.channel
      }
    }
  }

  /// How large a topic or a channel is.
  package struct Size: Sendable, Equatable {
    package let name: String
    /// The users who subscribe to the topic, or have an installation in the channel. Who is in two shards counts
    /// twice.
    package let users: Int
  }

  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  /// The topics, or the channels, that somebody is in, by name.
  package func sizes(of kind: Kind, app: String) async throws(RedisError) -> [Size] {
    var names: [String] = []
    var users: [String: Int] = [:]
    for store in stores {
      for size in try await store.audiences.sizes(app: app) {
        guard let name = kind.name(of: size.index) else { continue }
        if users[name] == nil { names.append(name) }
        users[name, default: 0] += size.users
      }
    }
    // Those of one store are in order.
    if stores.count > 1 { names.sort() }
    return names.map { Size(name: $0, users: users[$0, default: 0]) }
  }

  /// Some of the topics, or of the channels, that somebody is in, in the byte order of their names.
  /// - Parameters:
  ///   - place: the name behind which they are; empty for the first.
  ///   - max: how many at most, 1 at least.
  /// - Returns: them, and whether there are more.
  package func page(
    of kind: Kind, app: String, behind place: String, max: Int
  ) async throws(RedisError) -> (sizes: [Size], hasMore: Bool) {
    var found: [GroupSize] = []
    for store in stores {
      found += try await store.audiences.sizes(app: app, behind: place, max: max + 1) {
        kind.name(of: $0)
      }
    }
    // Those of one store are in order.
    if stores.count > 1 { found.sort { TextRule.precedes($0.name, $1.name) } }
    var sizes: [Size] = []
    for group in found {
      if let last = sizes.last, TextRule.isSame(last.name, group.name) {
        sizes[sizes.count - 1] = Size(name: last.name, users: last.users + group.users)
      } else {
        sizes.append(Size(name: group.name, users: group.users))
      }
    }
    return (Array(sizes.prefix(max)), sizes.count > max)
  }
}
