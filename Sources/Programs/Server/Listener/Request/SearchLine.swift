internal import Synchronization

/// Lets a caller have a few requests at a time that read much of Redis. Its others wait, so that it slows nobody but itself.
final class SearchLine: Sendable {
  private struct Line {
    var running = 0
    /// The first in front.
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  private let runningMax: Int
  private let waitingMax: Int
  /// By the names of the callers who have something in hand.
  private let lines = Mutex<[String: Line]>([:])

  init(
    runningMax: Int = ServerLimits.searchesMax, waitingMax: Int = ServerLimits.waitingSearchesMax
  ) {
    self.runningMax = runningMax
    self.waitingMax = waitingMax
  }

  /// How many requests of a caller run or wait.
  func count(of caller: String) -> Int {
    lines.withLock { $0[caller].map { $0.running + $0.waiting.count } ?? 0 }
  }

  /// Does something when it is the caller's turn.
  /// - Throws: 429 when too many of the caller wait already; what the body throws.
  func run<Value>(
    of caller: String, _ body: () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    guard await enter(caller) else { throw .tooManySearches }
    defer { leave(caller) }
    return try await body()
  }

  private func enter(_ caller: String) async -> Bool {
    await withCheckedContinuation { continuation in
      let isDecided: Bool? = lines.withLock { lines in
        var line = lines[caller, default: Line()]
        defer { lines[caller] = line }
        if line.running < runningMax {
          line.running += 1
          return true
        }
        guard line.waiting.count < waitingMax else { return false }
        line.waiting.append(continuation)
        return nil
      }
      if let isDecided { continuation.resume(returning: isDecided) }
    }
  }

  private func leave(_ caller: String) {
    let next = lines.withLock { lines -> CheckedContinuation<Bool, Never>? in
      guard var line = lines[caller] else { return nil }
      defer { lines[caller] = line.running == 0 ? nil : line }
      guard line.waiting.isEmpty else { return line.waiting.removeFirst() }
      line.running -= 1
      return nil
    }
    next?.resume(returning: true)
  }
}
