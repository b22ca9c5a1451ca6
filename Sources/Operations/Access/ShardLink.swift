internal import Model
internal import PushpoolConfiguration
internal import Reactor
internal import Redis
internal import Store

/// A session's way to one shard: a connection that comes back by itself, and why there is none. Loop-bound.
final class ShardLink {
  let shard: ShardConfiguration
  let store: ShardStore
  /// Why it cannot be used, since it was lost or could not be made; nil while that is not known.
  private(set) var trouble: RedisError?
  private var phase = Phase.idle
  private var waiters: [UnsafeContinuation<RedisError?, Never>] = []

  private enum Phase {
    case idle, connecting, begun
  }

  /// - Parameter connection: to the shard; nobody else hears of its states.
  init(_ shard: ShardConfiguration, connection: RedisConnection) {
    self.shard = shard
    store = ShardStore(connection: connection, prefix: shard.redis.prefix, id: shard.id)
  }

  var id: ShardID { shard.id }
  var isReady: Bool { connection.isReady }

  private var connection: RedisConnection { store.connection }

  /// Begins to connect; repeating it does nothing.
  /// - Parameter onChange: called with nil each time the connection can be used, and with the reason each time it is lost or
  ///   cannot be made, once per attempt.
  /// - Returns: whether this call has begun it.
  @discardableResult
  func begin(onChange: @escaping (RedisError?) -> Void = { _ in }) -> Bool {
    guard phase == .idle else { return false }
    phase = .connecting
    connection.onReady = { [weak self] in
      self?.note(nil)
      onChange(nil)
    }
    connection.onLost = { [weak self] error in
      self?.note(error)
      onChange(error)
    }
    connection.connect()
    return true
  }

  /// Waits until the first attempt to connect has come to something: a person waits, and the first failure is the answer.
  /// - Returns: why it failed; nil when it did not, and for whoever comes later.
  func firstFailure() async -> RedisError? {
    guard phase == .connecting else { return nil }
    return await withUnsafeContinuation { waiters.append($0) }
  }

  func close() {
    connection.onReady = nil
    connection.onLost = nil
    connection.close()
    settle(.unavailable(reason: "closed"))
  }

  /// Keeps why the shard was left out of a look, though it is there.
  func note(refusal: RedisError) { trouble = refusal }

  private func note(_ trouble: RedisError?) {
    self.trouble = trouble
    settle(trouble)
  }

  private func settle(_ failure: RedisError?) {
    phase = .begun
    let waiters = waiters
    self.waiters = []
    for waiter in waiters { waiter.resume(returning: failure) }
  }
}
