internal import Reactor

extension RedisConnection {
  /// Sends a command and waits for a copy of its reply.
  package func call(
    _ command: RedisCommand, timeoutMs: UInt64? = RedisLimits.commandTimeoutMs
  ) async throws(RedisError) -> RESPValue {
    try await call(command, timeoutMs: timeoutMs) { RESPValue($0) }
  }

  /// Sends a command and waits for what `decode` makes of its reply.
  package func call<Value: Sendable>(
    _ command: RedisCommand, timeoutMs: UInt64? = RedisLimits.commandTimeoutMs,
    cutBytes: Int = .max, decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    try await withUnsafeContinuation { continuation in
      send(command, timeoutMs: timeoutMs, cutBytes: cutBytes) { result in
        continuation.resume(
          returning: Self.decoded(result.mapError { $0.naming(command) }, decode))
      }
    }.get()
  }

  /// Sends commands as a transaction and waits for what `decode` makes of EXEC's reply, null when something that is watched
  /// has changed. All are written or none, and nothing of anybody else's in between.
  package func transaction<Value: Sendable>(
    _ commands: [RedisCommand], decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    try await withUnsafeContinuation { continuation in
      sendTransaction(commands) { result in
        continuation.resume(returning: Self.decoded(result, decode))
      }
    }.get()
  }

  private func sendTransaction(_ commands: [RedisCommand], _ handler: @escaping Handler) {
    let all = [RedisCommand("MULTI")] + commands + [RedisCommand("EXEC")]
    guard state != .ready || hasRoom(for: all.count, bytes: all.reduce(0) { $0 + $1.body.count })
    else { return handler(.failure(.tooManyPending)) }
    // The reply of EXEC tells of all.
    for command in all.dropLast() { send(command) { _ in } }
    send(all[all.count - 1], handler)
  }

  /// Calls a function as `call` calls a command, for FCALL of the connection's library: a missing function is loaded
  /// and the call made once more, which is safe because the first did nothing.
  package func callFunction<Value: Sendable>(
    _ command: RedisCommand, decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    try await withUnsafeContinuation { continuation in
      sendFunction(command) { result in
        continuation.resume(returning: Self.decoded(result, decode))
      }
    }.get()
  }

  /// Calls a function that writes nothing, as `callFunction` does: a user who may only read calls it so.
  package func callReadingFunction<Value: Sendable>(
    _ function: String, _ arguments: RedisCommand,
    decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    func command(_ name: String) -> RedisCommand {
      var command = RedisCommand(name, function)
      command.append(argumentsOf: arguments)
      return command
    }
    do throws(RedisError) {
      return try await callFunction(command("FCALL"), decode: decode)
    } catch {
      // Rights of an older version have no `+fcall_ro`, so that the other is tried first.
      guard error.missingRight == .command("fcall") else { throw error }
      return try await callFunction(command("FCALL_RO"), decode: decode)
    }
  }

  /// Calls several functions as `callFunction` does, in one pipeline.
  /// - Returns: the answer to each once all are there. A call that is made once more comes behind the others.
  package func callFunctions<Value: Sendable>(
    _ commands: [RedisCommand], decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async -> [Result<Value, RedisError>] {
    guard !commands.isEmpty else { return [] }
    return await withUnsafeContinuation { continuation in
      let answers = PipelineAnswers<Value>(count: commands.count) {
        continuation.resume(returning: $0)
      }
      for (index, command) in commands.enumerated() {
        sendFunction(command) { answers.note(Self.decoded($0, decode), of: index) }
      }
    }
  }

  /// Sends several commands as `call` does, in one pipeline.
  /// - Returns: the answer to each once all are there.
  package func callAll<Value: Sendable>(
    _ commands: [RedisCommand], decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async -> [Result<Value, RedisError>] {
    guard !commands.isEmpty else { return [] }
    return await withUnsafeContinuation { continuation in
      let answers = PipelineAnswers<Value>(count: commands.count) {
        continuation.resume(returning: $0)
      }
      for (index, command) in commands.enumerated() {
        send(command) { result in
          answers.note(Self.decoded(result.mapError { $0.naming(command) }, decode), of: index)
        }
      }
    }
  }

  /// Sends as `send` does, for FCALL of the connection's library.
  package func sendFunction(_ command: RedisCommand, _ handler: @escaping Handler) {
    send(command) { [unowned self] result in
      guard case .failure(let error) = result else { return handler(result) }
      guard error.isFunctionMissing else { return handler(.failure(error.naming(command))) }
      loadLibrary { [unowned self] failure in
        if let failure { handler(.failure(failure)) } else { send(command, handler) }
      }
    }
  }

  /// Waits until the connection can be used.
  /// - Throws: `.timeout` after `timeoutMs`, `.unavailable` when it is closed for good.
  package func waitUntilReady(timeoutMs: UInt64) async throws(RedisError) {
    guard state != .closed else { throw .unavailable(reason: "closed") }
    guard state != .ready else { return }
    let waiter = ReadyWaiter()
    let timer = LoopTimer(loop: loop) { [unowned self] in
      readyWaiters.removeAll { $0 === waiter }
      waiter.resume(.failure(.timeout))
    }
    waiter.timer = timer
    readyWaiters.append(waiter)
    try await withUnsafeContinuation { continuation in
      waiter.continuation = continuation
      timer.schedule(afterMs: timeoutMs)
    }.get()
  }

  func resumeWaiters(_ result: Result<Void, RedisError>) {
    let waiters = readyWaiters
    readyWaiters = []
    for waiter in waiters { waiter.resume(result) }
  }

  private static func decoded<Value>(
    _ result: Result<RedisReply, RedisError>, _ decode: (RedisReply) throws(RedisError) -> Value
  ) -> Result<Value, RedisError> {
    do throws(RedisError) {
      return .success(try decode(try result.get()))
    } catch {
      return .failure(error)
    }
  }
}

/// Somebody who waits for the connection, until a deadline.
final class ReadyWaiter {
  var continuation: UnsafeContinuation<Result<Void, RedisError>, Never>?
  /// The timer that holds the waiter, until either is done.
  var timer: LoopTimer?

  func resume(_ result: Result<Void, RedisError>) {
    timer?.cancel()
    timer = nil
    continuation?.resume(returning: result)
    continuation = nil
  }
}

/// Gathers the answers to the commands of a pipeline, in the order of the commands; loop-bound.
final class PipelineAnswers<Value: Sendable> {
  private var answers: [Result<Value, RedisError>?]
  private var missing: Int
  private let done: ([Result<Value, RedisError>]) -> Void

  /// - Parameter done: called once, with the last answer.
  init(count: Int, _ done: @escaping ([Result<Value, RedisError>]) -> Void) {
    answers = Array(repeating: nil, count: count)
    missing = count
    self.done = done
  }

  /// Notes an answer, the only one to the command at this place.
  func note(_ answer: Result<Value, RedisError>, of index: Int) {
    answers[index] = answer
    missing -= 1
    if missing == 0 { done(answers.compactMap(\.self)) }
  }
}
