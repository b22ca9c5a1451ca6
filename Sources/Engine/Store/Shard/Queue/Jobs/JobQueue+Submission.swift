package import Model
package import Redis

extension JobQueue {
  /// Adds a job by the function that any client may call: it takes the job's name in the same step.
  /// - Parameters:
  ///   - digest: of the canonical job (`ContentDigest`); nil when the text was not checked.
  ///   - name: the app and the id of a job that was checked; nil when the function is to read them, which it does not in a large
  ///     text.
  /// - Returns: nil when the function does not take it, and nothing was added: the server has no such function, the user may not
  ///   call it, the text is large and its name is not given, or it names no app. `enqueue` takes it all the same.
  /// - Throws: after `.connectionLost` and `.timeout` the job may have been added.
  package func submit(
    _ json: [UInt8], priority: Priority, digest: String?, name: (app: String, id: String)? = nil
  ) async throws(RedisError) -> SubmissionAnswer? {
    let isLarge = json.count > StoreLimits.submittedBytesMax
    guard !isLarge || (digest != nil && name != nil) else { return nil }
    var command = RedisCommand("FCALL", "pushpool_submit")
    let keys = functions.keys.registrationKeys
    command.append(keys.count)
    for key in keys { command.append(key) }
    command.append(priority.rawValue)
    command.append(json)
    if let digest { command.append(digest) }
    // A server whose functions are older knows no more than the digest.
    if isLarge, let name {
      command.append(name.app)
      command.append(name.id)
    }
    let reply: RESPValue
    do throws(RedisError) { reply = try await functions.connection.call(command) } catch {
      if error.isFunctionMissing || error.missingRight != nil { return nil }
      if case .server("INVALID", _) = error { return nil }
      throw error
    }
    guard let submission = SubmissionAnswer(reply.bytes ?? []) else {
      throw .unexpectedReply("pushpool_submit")
    }
    return submission
  }
}

/// The answer to a job that was submitted.
package struct SubmissionAnswer: Sendable, Equatable {
  package enum Status: String, Sendable {
    /// The job is in its stream, and has the name.
    case created
    /// Nothing was added: the same job came before.
    case replayed
    /// Another job has the name; nothing was added.
    case conflict
  }

  package let status: Status
  package let id: String
  /// The job's entry, when it is replayed that of the one that came before; empty when it is in conflict.
  package let entry: String

  /// From the function's JSON; nil when it is none.
  init?(_ json: [UInt8]) {
    guard let object = (try? JSONParser().parse(json))?.objectValue,
      let status = object["status"]?.stringValue.flatMap({ Status(rawValue: $0) }),
      let id = object["id"]?.stringValue
    else { return nil }
    self.status = status
    self.id = id
    entry = object["entry"]?.stringValue ?? ""
  }
}
