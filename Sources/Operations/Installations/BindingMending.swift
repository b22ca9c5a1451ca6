internal import Redis
package import Store

/// Mends the bindings of an app that are half there, in the stores of all shards. May be stopped at any time and begun
/// again, and other work goes on.
package struct BindingMending {
  private let stores: [ShardStore]
  private let patience: Patience

  package init(stores: [ShardStore], patience: Patience) {
    self.stores = stores
    self.patience = patience
  }

  /// - Parameter onProgress: told after each page how far the walk over a store is.
  /// - Returns: the walk over each store, at its end.
  package func run(
    app: String, onProgress: (BindingWalk) -> Void
  ) async throws(OperationError) -> [BindingWalk] {
    var walks: [BindingWalk] = []
    for store in stores {
      var walk = BindingWalk()
      while !walk.isOver {
        guard patience.isLeft else { throw .stopped }
        let last = walk
        walk = try await patience.repeating(on: store) { store throws(RedisError) in
          try await store.installations.mend(app: app, last)
        }
        onProgress(walk)
      }
      walks.append(walk)
    }
    return walks
  }
}
