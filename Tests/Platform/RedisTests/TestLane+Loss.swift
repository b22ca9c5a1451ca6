import Redis
import TestSupport

extension TestLane {
  /// Connects, and tells why that failed. The connection goes on trying, so only the first loss may
  /// resume the caller.
  func firstLoss(of connection: RedisConnection) async -> RedisError {
    defer { connection.onLost = nil }
    return await withUnsafeContinuation { continuation in
      var isTold = false
      connection.onLost = { reason in
        guard !isTold else { return }
        isTold = true
        continuation.resume(returning: reason)
      }
      connection.connect()
    }
  }
}
