internal import Synchronization

/// Answers of Redis that are believed for `ServerLimits.keyBelievedMs`, those that there is no such thing too. Who asks for the
/// same while it is being read waits for the same answer.
final class LookupCache<Value: Sendable>: Sendable {
  /// The things known of a name before Redis is asked.
  enum Recall: Sendable {
    /// An answer that is believed; nil for none.
    case fresh(Value?)
    /// The name was known, too long ago to be believed.
    case stale
    case unknown
  }

  private struct Remembered: Sendable {
    let value: Value
    let readAtMs: UInt64
  }

  private struct Reading {
    let number: UInt64
    let task: Task<Result<Value?, Problem>, Never>
  }

  private struct State {
    var present: [String: Remembered] = [:]
    /// When it was read that there is none.
    var absent: [String: UInt64] = [:]
    var readings: [String: Reading] = [:]
    /// The number of the last reading.
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  private let steadyMs: @Sendable () -> UInt64
  private let namesMax: Int

  init(clock: AccessClock, namesMax: Int = ServerLimits.rememberedMax) {
    steadyMs = clock.steadyMs
    self.namesMax = namesMax
  }

  func recall(_ name: String) -> Recall {
    let nowMs = steadyMs()
    return state.withLock { Self.recall(name, $0, nowMs) }
  }

  private static func recall(_ name: String, _ state: borrowing State, _ nowMs: UInt64) -> Recall {
    if let known = state.present[name] {
      return isFresh(known.readAtMs, nowMs) ? .fresh(known.value) : .stale
    }
    guard let readAtMs = state.absent[name], isFresh(readAtMs, nowMs) else { return .unknown }
    return .fresh(nil)
  }

  /// Asks Redis.
  /// - Parameter read: called once for all who ask meanwhile.
  func read(
    _ name: String, _ read: @escaping @Sendable () async throws(Problem) -> Value?
  ) async throws(Problem) -> Value? {
    let nowMs = steadyMs()
    let task = state.withLock { state in
      if let reading = state.readings[name] { return reading.task }
      // Another's question may have been answered since the caller looked.
      if case .fresh(let value) = Self.recall(name, state, nowMs) {
        return Task { .success(value) }
      }
      state.lastNumber += 1
      let number = state.lastNumber
      let task = Task { await self.finish(name, number, read) }
      state.readings[name] = Reading(number: number, task: task)
      return task
    }
    return try await task.value.get()
  }

  private func finish(
    _ name: String, _ number: UInt64, _ read: @Sendable () async throws(Problem) -> Value?
  ) async -> Result<Value?, Problem> {
    // Before the question: the answer may be as old.
    let askedAtMs = steadyMs()
    let result: Result<Value?, Problem>
    do throws(Problem) { result = .success(try await read()) } catch { result = .failure(error) }
    state.withLock { state in
      // Whoever forgot the name meanwhile knows better. Another reading may have begun since, which goes on.
      guard state.readings[name]?.number == number else { return }
      state.readings[name] = nil
      guard case .success(let value) = result else { return }
      if let value {
        state.absent[name] = nil
        Self.makeRoom(in: &state.present, max: namesMax) { Self.isFresh($0.readAtMs, askedAtMs) }
        state.present[name] = Remembered(value: value, readAtMs: askedAtMs)
      } else {
        state.present[name] = nil
        Self.makeRoom(in: &state.absent, max: namesMax) { Self.isFresh($0, askedAtMs) }
        state.absent[name] = askedAtMs
      }
    }
    return result
  }

  /// Forgets a name, as what it stands for has changed. A reading that is under way counts for nobody who asks later.
  func forget(_ name: String) {
    state.withLock { state in
      state.present[name] = nil
      state.absent[name] = nil
      state.readings[name] = nil
    }
  }

  /// Drops what is not believed any more when the table is full, and all when that is not enough.
  private static func makeRoom<Entry>(
    in table: inout [String: Entry], max: Int, isFresh: (Entry) -> Bool
  ) {
    guard table.count >= max else { return }
    table = table.filter { isFresh($0.value) }
    if table.count >= max { table.removeAll() }
  }

  private static func isFresh(_ readAtMs: UInt64, _ nowMs: UInt64) -> Bool {
    nowMs < readAtMs + ServerLimits.keyBelievedMs
  }
}
