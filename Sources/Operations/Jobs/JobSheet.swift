package import Model
package import Redis
package import Store

/// The words of a job, and to whom it goes, as far as Redis keeps them.
package struct JobSheet: Sendable, Equatable {
  /// The words that a producer wrote, or what the lanes keep of them; without the audience and the filter. Nil when they are
  /// not kept.
  package let content: JSONObject?
  /// The job's audience. Of a list of users or installations only how many there were is told, and once a worker has taken the
  /// job in, only which of both they are. Empty when it is not known.
  package let audience: JSONObject
  /// Which installations of the audience it is for; nil for all of them.
  package let filter: JSONValue?

  init(content: JSONObject?, audience: JSONObject) {
    self.audience = audience
    var content = content
    filter = content?["filter"]
    content?["filter"] = nil
    self.content = content
  }

  /// Reads it plainly: of a job that a worker has taken in what the lanes keep, of one that waits or was refused what its
  /// producer wrote. It needs no functions. Only the shard of the record is asked: entries of others may be equal.
  package static func read(
    _ record: JobRecord, in stores: [ShardStore]
  ) async throws(RedisError) -> JobSheet {
    guard let store = record.shard.flatMap({ stores.of($0) }) else {
      return JobSheet(content: nil, audience: [:])
    }
    guard record.isAdmitted else {
      return JobSheet(job: try await text(of: record, in: store))
    }
    let bytes = try await store.jobs.content(app: record.app, id: record.id)
    var content = bytes.flatMap { object($0) }
    // It counts from the start, which may be another by now.
    if let expiresAtMs = record.expiresAtMs { content?["expires_at"] = .integer(expiresAtMs) }
    return JobSheet(content: content, audience: record.audience)
  }

  /// The text of a job that is not admitted: of a refused one that of its dead letter.
  private static func text(
    of record: JobRecord, in store: ShardStore
  ) async throws(RedisError) -> [UInt8]? {
    if let refusal = record.refusal {
      guard !refusal.letter.isEmpty else { return nil }
      return try await store.deadLetters.show(refusal.letter)?.original.map { Array($0.utf8) }
    }
    guard let source = record.source else { return nil }
    return try await store.jobs.waiting.text(ofSource: source)
  }

  private static func object(_ text: [UInt8]) -> JSONObject? {
    (try? JSONParser().parse(text))?.objectValue
  }

  /// From a producer's text; of one that is no JSON there is nothing to tell.
  private init(job text: [UInt8]?) {
    guard var job = text.flatMap({ Self.object($0) }) else {
      self.init(content: nil, audience: [:])
      return
    }
    var audience = job["audience"]?.objectValue ?? [:]
    for name in ["users", "installations"] {
      if let count = audience[name]?.arrayValue?.count { audience[name] = .integer(count) }
    }
    for name in ["id", "app", "audience"] { job[name] = nil }
    self.init(content: job, audience: audience)
  }

  /// Returns the members that a job's JSON has beside those of its record.
  package var members: [(name: String, value: JSONValue)] {
    var members: [(name: String, value: JSONValue)] = [("audience", .object(audience))]
    if let filter { members.append(("filter", filter)) }
    if let content { members.append(("content", .object(content))) }
    return members
  }
}

extension JobRecord {
  /// The audience of an admitted job, as far as its record tells.
  fileprivate var audience: JSONObject {
    if let usersKey { return ["users_key": .string(usersKey)] }
    switch index.flatMap({ AudienceIndex(name: $0) }) {
    case .all?: return ["all": .bool(true)]
    case .topic(let topic)?: return ["topic": .string(topic)]
    case .channel(let channel)?: return ["channel": .string(channel)]
    case nil: break
    }
    if let topic { return ["topic": .string(topic)] }
    return lines.map { ["list": .string($0)] } ?? [:]
  }
}
