package import Model
package import Redis

extension JobQueue {
  /// Leases job entries, high priority first, fewer than `max` when they are large.
  /// - Parameters:
  ///   - last: the lowest priority to take.
  ///   - abandonedForMs: also those of workers that were silent for so long; nil to not look.
  ///   - leavesLarge: takes nothing from a stream that has entries too large for a function.
  ///   - onRefusal: called for each entry that is no job and became a dead letter on the way.
  ///   - onTakeOver: called when silent workers had left some, so that there may be more of theirs.
  ///   - beforeReading: given those that are there before large ones are read, which takes long.
  /// - Returns: all others.
  package func take(
    consumer: String, max: Int, downTo last: Priority = .low, abandonedForMs: UInt64? = nil,
    leavesLarge: Bool = false,
    onRefusal: (RefusedEntry) -> Void = { _ in }, onTakeOver: () -> Void = {},
    beforeReading: ([JobEntry]) async throws(RedisError) -> Void
  ) async throws(RedisError) -> [JobEntry] {
    let taking = JobTaking(functions: functions, consumer: consumer)
    return try await taking.take(
      max: max, downTo: last, abandonedForMs: abandonedForMs, leavesLarge: leavesLarge, onRefusal,
      onTakeOver: onTakeOver, beforeReading: beforeReading)
  }

  /// Leases jobs in the same way, and returns all of them.
  package func take(
    consumer: String, max: Int, abandonedForMs: UInt64? = nil,
    onRefusal: (RefusedEntry) -> Void = { _ in }
  ) async throws(RedisError) -> [JobEntry] {
    var early: [JobEntry] = []
    let late = try await take(
      consumer: consumer, max: max, abandonedForMs: abandonedForMs, onRefusal: onRefusal,
      beforeReading: { entries in early += entries })
    return early + late
  }

  /// The jobs that the consumer owns and does not know of, since the answer to its `take` was lost: as many as `max`, and
  /// their leases begin anew. Without it they would wait for their leases to run out.
  /// - Parameters:
  ///   - inHand: all that the consumer knows of.
  ///   - onRefusal: as for `take`.
  package func takeUnanswered(
    consumer: String, max: Int, inHand: [JobEntry], onRefusal: (RefusedEntry) -> Void = { _ in }
  ) async throws(RedisError) -> [JobEntry] {
    var command = functions.call("take_unanswered", consumer)
    command.append(max)
    command.append(Limits.jobBytesMax)
    for entry in inHand {
      command.append(entry.priority.rawValue)
      command.append(entry.entry)
    }
    let taking = JobTaking(functions: functions, consumer: consumer)
    return try await taking.take(by: command, onRefusal)
  }
}
