/// When work that was not sent yet is dropped.
package enum Expiry: Sendable, Equatable {
  /// Seconds after the job was created; 0 also tells the provider not to store the push.
  case ttl(seconds: Int)
  /// Epoch milliseconds.
  case at(ms: Int64)

  /// Epoch milliseconds, for a job created at `createdAtMs`.
  package func expiresAtMs(createdAtMs: Int64) -> Int64 {
    switch self {
    case .ttl(let seconds): createdAtMs + Int64(seconds) * 1_000
    case .at(let ms): ms
    }
  }
}
