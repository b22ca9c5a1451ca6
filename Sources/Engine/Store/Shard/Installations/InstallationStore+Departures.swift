package import Model
package import Redis

// The last that became of tokens and of users' devices (`note_departure` of the functions). It is read plainly, and needs no
// functions.
extension InstallationStore {
  /// The last departure of a token, or the last word of its network about it; nil when none is known of the last days, or the
  /// caller may not read it.
  /// - Parameter nowMs: epoch milliseconds, by whatever clock is near that of Redis.
  package func departure(
    app: String, token: DeviceToken, nowMs: Int64
  ) async throws(RedisError) -> Departure? {
    // The functions cut a longer one there.
    let known = String(
      decoding: token.text.utf8.prefix(StoreLimits.departedTokenBytesMax), as: UTF8.self)
    let field = "t:\(token.network.rawValue):\(app):\(known)"
    guard let words = try await departed(field, nowMs: nowMs), words.count == 5 else { return nil }
    return Self.departure(words[0], words[1], user: words[2], token, by: words[3], job: words[4])
  }

  /// The last departure of a device of a user; nil as for a token.
  package func departure(
    app: String, user: String, nowMs: Int64
  ) async throws(RedisError) -> Departure? {
    guard let words = try await departed("u:\(app):\(user)", nowMs: nowMs), words.count == 6,
      let network = Network(rawValue: words[2])
    else { return nil }
    let token = DeviceToken(stored: words[3], network: network)
    return Self.departure(words[0], words[1], user: user, token, by: words[4], job: words[5])
  }

  private static func departure(
    _ cause: String, _ at: String, user: String, _ token: DeviceToken, by: String, job: String
  ) -> Departure? {
    guard let cause = Departure.Cause(rawValue: cause), let atMs = Int64(at) else { return nil }
    return Departure(
      cause: cause, atMs: StoredNumber.instantMs(atMs), user: user, token: token, by: by, job: job)
  }

  /// The words of a field, of the turn in which it was written last.
  private func departed(
    _ field: String, nowMs: Int64
  ) async throws(RedisError) -> [String]? {
    let turn = nowMs / StoreLimits.departedMs
    // The next one, too: near its beginning the clocks may differ.
    for turn in [turn + 1, turn, turn - 1] {
      let command = RedisCommand("HGET", functions.keys.departed(String(turn)), field)
      let found: String?
      do throws(RedisError) {
        found = try await functions.connection.call(command).string
      } catch {
        // The rights of an older version, or something else under the key.
        if case .server = error, !error.isTemporary { return nil }
        throw error
      }
      if let found {
        return found.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      }
    }
    return nil
  }
}
