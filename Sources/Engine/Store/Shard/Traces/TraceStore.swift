package import Redis

/// The events that lanes recorded of the pushes of each job: kept within bytes and for two days after its last event,
/// as Functions/Library/limits.lua says.
package struct TraceStore {
  let functions: StoreFunctions

  /// Whether an `append` can be sent now.
  package var isReady: Bool { functions.connection.isReady }

  /// Adds a batch of `TraceLine`s, without waiting.
  /// - Parameters:
  ///   - by: the lane.
  ///   - number: which of the lane's batches it is.
  ///   - isAgain: whether it may be there already, since the answer to an earlier call was lost.
  ///   - handler: called once, on the loop; with a failure the batch may be lost.
  package func append(
    app: String, job: String, by: String, lines: [UInt8], count: Int,
    number: UInt64 = 0, isAgain: Bool = false,
    _ handler: @escaping (Result<Void, RedisError>) -> Void
  ) {
    var command = functions.call("trace", app, job, by)
    command.append(count)
    command.append(lines)
    command.append(String(number))
    command.append(isAgain ? "1" : "0")
    functions.connection.sendFunction(command) { handler($0.map { _ in () }) }
  }

  /// A part of a job's trace, oldest first; empty behind its end and for a job without one.
  /// - Parameter after: the entry to read on behind; nil for the beginning.
  package func page(
    app: String, job: String, after: String? = nil, max: Int = StoreLimits.tracePageMax
  ) async throws(RedisError) -> [TraceEntry] {
    let command = RedisCommand(
      "XRANGE", functions.keys.trace(app: app, job: job), after.map { "(\($0)" } ?? "-", "+",
      "COUNT", String(max))
    let reply = try await functions.connection.call(command)
    return (reply.array ?? []).compactMap { item in
      guard let parts = item.array, parts.count == 2, let entry = parts[0].string else {
        return nil
      }
      return TraceEntry(entry: entry, fields: parts[1].pairs)
    }
  }
}
