internal import Model

/// What a resolver hands a run's pushes to.
protocol PushSink: AnyObject {
  /// The bindings of so many of a run's recipients are being read.
  func noteResolving(_ run: ChunkRun, _ count: Int)
  /// They have been read, or that failed.
  func noteResolved(_ run: ChunkRun, _ count: Int)
  /// Where the pushes of a run go.
  func routes(_ run: ChunkRun) -> Routes
  /// Whether the time of a run's job is over.
  func isExpired(_ run: ChunkRun) -> Bool
  /// Whether a push would be put aside instead of queued, as things stand.
  func holdsBack(
    _ run: ChunkRun, _ destination: Int16, _ network: Network, _ user: UnsafeRawBufferPointer
  ) -> Bool
  /// A run's chunk is another worker's by now.
  func noteTakenOver(_ run: ChunkRun)
  /// Queues a push, or decides it at once when it cannot be sent.
  func enqueue(_ run: ChunkRun, push index: Int)
  /// Sends what was queued, at the end of this turn.
  func wake()
}
