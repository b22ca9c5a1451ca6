internal import Redis
package import Model
package import Store

/// Changes who subscribes to topics, again after each failure that may pass.
package struct SubscriptionOffice {
  /// The change to subscriptions.
  package enum Change: Sendable {
    case subscribe
    case unsubscribe
  }

  private let store: ShardStore
  private let patience: Patience

  package init(store: ShardStore, patience: Patience) {
    self.store = store
    self.patience = patience
  }

  /// - Parameter subscriptions: at most `StoreLimits.subscriptionsMax`.
  /// - Returns: how many it was news to; fewer than that when an answer was lost.
  package func make(
    _ change: Change, _ subscriptions: [Subscription]
  ) async throws(OperationError) -> Int {
    try await patience.repeating(on: store) { store throws(RedisError) in
      switch change {
      case .subscribe: try await store.audiences.subscribe(subscriptions)
      case .unsubscribe: try await store.audiences.unsubscribe(subscriptions)
      }
    }
  }
}
