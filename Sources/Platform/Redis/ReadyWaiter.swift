internal import Reactor

/// Somebody who waits for the connection, until a deadline.
final class ReadyWaiter {
  var continuation: UnsafeContinuation<Result<Void, RedisError>, Never>?
  var timer: LoopTimer?
}
