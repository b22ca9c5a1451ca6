internal import Model
internal import Reactor
internal import Store

/// The bindings of a small job's users, read in the same trip to Redis as admits the job, so that its pushes
/// leave as soon as its chunk is claimed; loop-bound.
final class FirstBindings {
  /// What the users' keys held, in their order; nil until Redis has answered, and when that is too much to keep.
  private var texts: [[UInt8]]?
  private let readNs: UInt64
  private let count: Int

  /// Reads them; nil when the job is too large for it to matter.
  /// - Parameter segment: its only one, of users.
  init?(app: String, segment: [UInt8], store: Store, loop: EventLoop) {
    let count = segment.withUnsafeBytes { bytes in
      SegmentLines(bytes).prefix(WorkerLimits.firstBindingsMax + 1).count { _ in true }
    }
    guard count <= WorkerLimits.firstBindingsMax else { return nil }
    self.count = count
    readNs = loop.nowNs
    segment.withUnsafeBytes { bytes in
      store.installations.resolve(app: app, users: Array(SegmentLines(bytes))[...]) { [self] in
        guard case .success(let resolved) = $0 else { return }
        let bytes = (0..<resolved.count).reduce(0) { $0 + resolved.text($1).count }
        guard bytes <= WorkerLimits.firstBindingsBytesMax else { return }
        texts = (0..<resolved.count).map { Array(resolved.text($0)) }
      }
    }
  }

  /// What was read for a chunk's first batch, and when, in the loop's time.
  /// - Returns: nil when it is not for this batch, has not come or is not of this moment.
  func take(for batch: Range<Int>, nowNs: UInt64) -> (texts: [[UInt8]], readNs: UInt64)? {
    defer { texts = nil }
    guard let texts, batch == 0..<count, texts.count == count,
      nowNs &- readNs < WorkerLimits.firstBindingsMsMax * 1_000_000
    else { return nil }
    return (texts, readNs)
  }
}
