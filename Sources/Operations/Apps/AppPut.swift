package import PushpoolConfiguration
internal import Redis
package import Store

/// An app that somebody puts into Redis.
package struct AppPut: Sendable {
  private let document: AppDocument
  private let id: String
  private let mode: AppRecordStore.Mode
  private let keys: SealingKeys
  private let maker: String
  private let nowMs: Int64

  /// - Parameters:
  ///   - keys: seal the app's secrets, and open those that are to stay.
  ///   - maker: a user of a machine, or the id of a key.
  ///   - nowMs: epoch milliseconds.
  package init(
    _ document: AppDocument, id: String, _ mode: AppRecordStore.Mode, keys: SealingKeys,
    by maker: String, nowMs: Int64
  ) {
    self.document = document
    self.id = id
    self.mode = mode
    self.keys = keys
    self.maker = maker
    self.nowMs = nowMs
  }

  /// Puts it, unless the configuration file of a worker has an app of its name.
  package func run(in session: StoreSession) async throws(StoreFailure) -> AppOffice.Answer {
    let standsInRedis = try await session.atHome { fleet throws(RedisError) in
      try await fleet.apps.has(id)
    }
    let isInFile = try await session.ask { stores throws(RedisError) in
      for store in stores {
        let nowMs = try await store.serverMs()
        // A worker that leaves the app out may have it of Redis.
        if try await store.routes.isConfigured(id, nowMs: nowMs, orLeavesOut: !standsInRedis) {
          return true
        }
      }
      return false
    }
    guard !isInFile else { return .inFile }
    return try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).put(
        document, id: id, mode, keys: keys, by: maker, nowMs: nowMs)
    }
  }
}
