internal import Model
internal import Redis

/// Builds calls of the functions of Functions/*.lua over one connection; loop-bound.
struct StoreFunctions {
  let connection: RedisConnection
  let keys: Keys

  /// `FCALL pushpool_<name>_<version> 1 <prefix>`, to be followed by the arguments.
  func call(_ name: String) -> RedisCommand {
    RedisCommand(
      "FCALL", "pushpool_\(name)_\(StoreLibrary.library.version)", "1", keys.prefix)
  }

  func call(_ name: String, _ arguments: String...) -> RedisCommand {
    var command = call(name)
    for argument in arguments { command.append(argument) }
    return command
  }

  func run<Value: Sendable>(
    _ command: RedisCommand, decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    try await connection.callFunction(command, decode: decode)
  }

  /// Calls a function that writes nothing (`no-writes`), also for a user who may only read.
  func read<Value: Sendable>(
    _ name: String, _ arguments: [String],
    decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async throws(RedisError) -> Value {
    var command = RedisCommand("1", keys.prefix)
    for argument in arguments { command.append(argument) }
    return try await connection.callReadingFunction(
      "pushpool_\(name)_\(StoreLibrary.library.version)", command, decode: decode)
  }

  /// Calls several functions, in one pipeline.
  /// - Returns: the answer to each, once all are there.
  func run<Value: Sendable>(
    _ commands: [RedisCommand], decode: @escaping (RedisReply) throws(RedisError) -> Value
  ) async -> [Result<Value, RedisError>] {
    await connection.callFunctions(commands, decode: decode)
  }
}

/// The value of a word in a reply.
/// - Throws: `.unexpectedReply` when it is none of the type's.
func decodeWord<Word: RawRepresentable>(
  _ reply: RedisReply, as type: Word.Type = Word.self
) throws(RedisError) -> Word where Word.RawValue == String {
  let text = reply.string
  guard let word = Word(rawValue: text) else {
    throw .unexpectedReply("\"\(text)\" is no \(Word.self)")
  }
  return word
}

/// The id of a stream's entry in a reply. One that is none would make every later call that names it fail.
/// - Throws: `.unexpectedReply` when it is no id.
func decodeEntry(_ reply: RedisReply) throws(RedisError) -> String {
  let text = reply.string
  guard EntryID(text) != nil else { throw .unexpectedReply("\"\(text.prefix(64))\" is no entry") }
  return text
}

/// The same, with the shard that the stream is of.
func decodeEntry(_ reply: RedisReply, of shard: ShardID) throws(RedisError) -> ShardEntry {
  let text = try decodeEntry(reply)
  guard let id = EntryID(text) else { throw .unexpectedReply("\"\(text)\" is no entry") }
  return ShardEntry(shard: shard, id: id)
}

/// Checks the shape of an array reply.
func expectArray(_ reply: RedisReply, atLeast count: Int) throws(RedisError) {
  guard reply.kind == .array, reply.count >= count else {
    throw .unexpectedReply("an array of \(count) was expected")
  }
}

/// Checks that an array reply has an answer to each of so many questions, and no others.
func expectArray(_ reply: RedisReply, exactly count: Int) throws(RedisError) {
  guard reply.kind == .array, reply.count == count else {
    throw .unexpectedReply("an array of \(count) was expected, not one of \(reply.count)")
  }
}

/// A number of things, within what can be counted.
func decodeCount(_ reply: RedisReply) throws(RedisError) -> Int {
  max(0, StoredNumber.count(try decodeInteger(reply)))
}

/// A number of milliseconds from now, or from an event until now: a day at most.
func decodeDelayMs(_ reply: RedisReply) throws(RedisError) -> Int {
  min(try decodeInteger(reply), 86_400_000)
}

/// The answer of a token bucket: how many of the wanted were granted, and after how many ms asking for the rest is worth it.
func decodeGrant(
  _ reply: RedisReply, wanted: Int
) throws(RedisError) -> (granted: Int, retryMs: UInt64) {
  try expectArray(reply, atLeast: 2)
  // Never more than was asked for, whoever answers: the rate is somebody's limit.
  let granted = min(try decodeCount(reply[0]), max(0, wanted))
  let retryMs = min(UInt64(clamping: try decodeInteger(reply[1])), StoreLimits.rateRetryMsMax)
  return (granted, retryMs)
}

func decodeInteger(_ reply: RedisReply) throws(RedisError) -> Int {
  guard let value = reply.integer else { throw .unexpectedReply("a number was expected") }
  return value
}
