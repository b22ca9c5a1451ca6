internal import Redis
internal import Store

/// Says when it is time to look for chunks whose workers fell silent, and leases them.
///
/// The fetching takes them over before it claims new ones: a lane that is kept busy hardly ever has room at the moment
/// that a timer chooses.
final class Recoverer: Agent {
  private let chunks: ChunkQueue
  private let consumer: String
  private let leaseMs: UInt64
  private let onDue: () -> Void
  /// Whether it is time to look.
  private(set) var isDue = false

  init(chunks: ChunkQueue, consumer: String, leaseMs: UInt64, onDue: @escaping () -> Void) {
    self.chunks = chunks
    self.consumer = consumer
    self.leaseMs = leaseMs
    self.onDue = onDue
  }

  /// How long until a turn, the first one too.
  var everyMs: UInt64 { max(1, leaseMs / 4) }

  func turn() async -> UInt64 {
    isDue = true
    onDue()
    return everyMs
  }

  /// Leases chunks of silent workers; after a silence of this one's own, its own may be among them.
  func takeOver(max: Int) async throws(RedisError) -> [ChunkClaim] {
    let claims = try await chunks.reclaim(consumer: consumer, leaseMs: leaseMs, max: max)
    // With as many as were asked for there may be more.
    isDue = claims.count >= max
    return claims
  }
}
