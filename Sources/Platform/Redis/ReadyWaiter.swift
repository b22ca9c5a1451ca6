internal import Reactor

/// Somebody who waits for the connection, until a deadline.
final class ReadyWaiter {
  var continuation: UnsafeContinuation<Result<Void, RedisError>, Never>?
  /// The timer that holds the waiter, until either is done.
  var timer: LoopTimer?

  func resume(_ result: Result<Void, RedisError>) {
    timer?.cancel()
    timer = nil
    continuation?.resume(returning: result)
    continuation = nil
  }
}
