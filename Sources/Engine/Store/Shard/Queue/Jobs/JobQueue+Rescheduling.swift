internal import Model
package import Redis

extension JobQueue {
  /// Has a job that has not started begin at another time. Its chunks wait in Redis, so nothing of it is read but its record and
  /// what its content says of its expiry.
  /// - Parameters:
  ///   - atMs: when, in epoch milliseconds; nil for at once.
  ///   - aheadMsMax: how far ahead of now that may be, by the clock of Redis.
  /// - Returns: nil for an unknown job.
  package func reschedule(
    app: String, id: String, atMs: Int64?, aheadMsMax: Int64 = Limits.deliverAheadMsMax
  ) async throws(RedisError) -> RescheduleAnswer? {
    guard let record = try await record(app: app, id: id) else { return nil }
    guard !record.state.isFinal else { return .ended }
    let expiry = try await content(app: app, id: id).flatMap { Expiry(content: $0) }
    var command = functions.call(
      "reschedule", app, id, record.source ?? "", atMs.map { String($0) } ?? "",
      String(aheadMsMax))
    command.append(Self.expiresAtMs(expiry, of: record).map { String($0) } ?? "")
    return try await functions.run(command) { reply throws(RedisError) in
      reply.string == "ABSENT" ? nil : try decodeWord(reply)
    }
  }

  /// When the job expires whenever it starts. "Now or never" is for the network.
  private static func expiresAtMs(_ expiry: Expiry?, of record: JobRecord) -> Int64? {
    guard let expiry, expiry != .ttl(seconds: 0), let createdAtMs = record.createdAtMs else {
      return nil
    }
    return expiry.expiresAtMs(createdAtMs: createdAtMs)
  }
}
