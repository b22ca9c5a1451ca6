/// Suspended callers that wait for one thing, each with its own end of patience. Kept under its
/// owner's lock; continuations are resumed outside of it.
struct Waiters<Value: Sendable> {
  typealias Continuation = CheckedContinuation<Value, Never>

  private var continuations: [UInt64: Continuation] = [:]
  private var lastID: UInt64 = 0

  mutating func add(_ continuation: Continuation) -> UInt64 {
    lastID += 1
    continuations[lastID] = continuation
    return lastID
  }

  /// The waiter, unless it was resumed already.
  mutating func take(_ id: UInt64) -> Continuation? {
    continuations.removeValue(forKey: id)
  }

  mutating func takeAll() -> [Continuation] {
    defer { continuations.removeAll() }
    return Array(continuations.values)
  }
}
