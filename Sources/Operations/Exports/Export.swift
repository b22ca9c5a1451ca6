package import Model
internal import Redis
package import Store

/// Reads all installations and subscriptions out of the stores of all shards, while they change: what is bound or
/// subscribed throughout is among them. An installation may come twice.
package struct Export {
  /// The counts of what was read, and how far it is.
  package struct Progress: Sendable, Equatable {
    package internal(set) var installations = 0
    package internal(set) var subscriptions = 0
    /// About how many keys were looked at, and how many there are.
    package internal(set) var keysSeen = 0
    package internal(set) var keys = 0
  }

  /// A part of what is read.
  package enum Part: Sendable {
    case installations([Installation])
    case subscriptions([Subscription])
  }

  private let stores: [ShardStore]
  private let patience: Patience

  package init(stores: [ShardStore], patience: Patience) {
    self.stores = stores
    self.patience = patience
  }

  /// - Parameters:
  ///   - app: nil for every app.
  ///   - take: given each part, with how far the export is behind it.
  /// - Throws: `.stopped` when the patience ended; what was read until then is not all.
  package func run(
    app: String?, take: (Part, Progress) -> Void
  ) async throws(OperationError) -> Progress {
    var progress = Progress()
    for store in stores {
      let apps = try await readInstallations(of: app, in: store, &progress, take)
      for app in apps {
        let sizes = try await patience.repeating(on: store) { store throws(RedisError) in
          try await store.audiences.sizes(app: app)
        }
        for topic in sizes.compactMap(\.index.topic) {
          try await readSubscriptions(app, topic, in: store, &progress, take)
        }
      }
    }
    return progress
  }

  /// - Returns: the apps that may have topics.
  private func readInstallations(
    of app: String?, in store: ShardStore, _ progress: inout Progress,
    _ take: (Part, Progress) -> Void
  ) async throws(OperationError) -> [String] {
    var apps: Set<String> = []
    var walk = KeyWalk()
    while !walk.isOver {
      guard patience.isLeft else { throw .stopped }
      let last = walk
      let page = try await patience.repeating(on: store) { store throws(RedisError) in
        try await store.installations.export(app: app, last)
      }
      walk = page.walk
      apps.formUnion(page.apps)
      progress.installations += page.installations.count
      (progress.keysSeen, progress.keys) = (walk.keysSeen, walk.keys)
      take(.installations(page.installations), progress)
    }
    return apps.sorted()
  }

  private func readSubscriptions(
    _ app: String, _ topic: String, in store: ShardStore, _ progress: inout Progress,
    _ take: (Part, Progress) -> Void
  ) async throws(OperationError) {
    var next: String? = ""
    while let place = next {
      guard patience.isLeft else { throw .stopped }
      let page = try await patience.repeating(on: store) { store throws(RedisError) in
        try await store.audiences.subscribers(app: app, topic: topic, behind: place)
      }
      next = page.place
      progress.subscriptions += page.users.count
      let subscriptions = page.users.map { Subscription(app: app, topic: topic, user: $0) }
      take(.subscriptions(subscriptions), progress)
    }
  }
}
