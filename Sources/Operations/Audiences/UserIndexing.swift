internal import Redis
package import Store

/// Finds the users of an app whom versions without indexes have bound, in the stores of all shards. May be stopped at any
/// time and begun again.
package struct UserIndexing {
  private let stores: [ShardStore]
  private let patience: Patience

  package init(stores: [ShardStore], patience: Patience) {
    self.stores = stores
    self.patience = patience
  }

  /// - Parameter onProgress: told after each page how far the walk over a store is.
  /// - Returns: how many users have an installation, and how many of them were in no index.
  package func run(
    app: String, onProgress: (IndexWalk) -> Void
  ) async throws(OperationError) -> (found: Int, added: Int) {
    var found = 0
    var added = 0
    for store in stores {
      var walk = IndexWalk()
      while !walk.isOver {
        guard patience.isLeft else { throw .stopped }
        let last = walk
        walk = try await patience.repeating(on: store) { store throws(RedisError) in
          try await store.audiences.indexUsers(app: app, last)
        }
        onProgress(walk)
      }
      found += walk.found
      added += walk.added
    }
    return (found, added)
  }
}
