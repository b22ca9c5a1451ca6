internal import Model
internal import Store

/// Installations that go to Redis in one call, and subscriptions that do.
struct ImportBatch: Sendable {
  /// A call must fit into the connection's output many times over.
  private static let bytesMax = 1024 * 1024

  private(set) var installations: [Installation] = []
  private(set) var subscriptions: [Subscription] = []
  private var bytes = 0
  /// Changes of channels in the batch, which take time, too.
  private var channels = 0
  /// Where the input is behind the batch's last line.
  var position = ImportPosition()

  var isFull: Bool {
    installations.count >= StoreLimits.importBatchMax || bytes >= Self.bytesMax
      || channels >= StoreLimits.importChannelsMax
      || subscriptions.count >= StoreLimits.subscriptionsMax
  }

  var isEmpty: Bool { installations.isEmpty && subscriptions.isEmpty }

  /// Whose keys it needs.
  var subjects: [KeySubject] {
    installations.map { .token(app: $0.app, $0.token) }
      + installations.map { .user(app: $0.app, user: $0.user) }
      + Set(subscriptions.map(\.app)).sorted().map { .audiences(app: $0) }
  }

  /// Returns what goes to each shard, in one call there.
  func parts(by placement: Placement) -> [(shard: ShardID, batch: ImportBatch)] {
    let installations = placement.parts(of: installations, by: \.app)
    let subscriptions = placement.parts(of: subscriptions, by: \.app)
    return placement.shards.compactMap { shard in
      var part = ImportBatch()
      part.installations = installations.first { $0.shard == shard }?.elements ?? []
      part.subscriptions = subscriptions.first { $0.shard == shard }?.elements ?? []
      return part.isEmpty ? nil : (shard, part)
    }
  }

  mutating func append(_ line: ImportLine, bytes: Int) {
    self.bytes += bytes
    switch line {
    case .installation(let installation):
      installations.append(installation)
      channels += installation.channels.count
    case .subscription(let subscription): subscriptions.append(subscription)
    }
  }
}
