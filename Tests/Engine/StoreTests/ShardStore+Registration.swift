import Model
import Redis

@testable import Store

extension ShardStore {
  /// Calls a function for registration as any client does, on a prefix of one's own.
  /// - Returns: the object or the array that it answers.
  func register(
    _ function: String, _ document: [UInt8], prefix: String? = nil
  ) async throws -> JSONValue {
    var command = RedisCommand("FCALL", function, "1", prefix ?? keys.prefix)
    command.append(document)
    let reply = try await connection.call(command)
    return try JSONParser().parse(reply.bytes ?? [])
  }

  func register(
    _ function: String, _ document: String, prefix: String? = nil
  ) async throws -> JSONValue {
    try await register(function, Array(document.utf8), prefix: prefix)
  }

  /// The sentence that refuses the document; nil when it is taken.
  /// - Throws: an error that is no refusal.
  func refusal(of document: [UInt8], by function: String = "pushpool_install") async throws
    -> String?
  {
    do {
      _ = try await register(function, document)
      return nil
    } catch RedisError.server("INVALID", let message) {
      return message
    }
  }

  func refusal(of document: String, by function: String) async throws -> String? {
    try await refusal(of: Array(document.utf8), by: function)
  }
}
