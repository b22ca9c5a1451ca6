internal import Providers
internal import Redis
internal import Store

/// Provider tokens as the fleet has them. APNs refuses the tokens of a key that change too often, so the doctor never
/// brings another one beside the fleet's. Bearer tokens it gets by itself: whether they can be had is part of the question.
struct BorrowedTokens: TokenShare {
  /// nil where Redis cannot be asked.
  let session: StoreSession?
  let clock: WallClock

  func agree(
    key: String, proposal: SharedToken, refused: SharedToken?, lifeMs: Int64
  ) async throws(CredentialError) -> SharedToken {
    guard Self.isProviderToken(key) else { return proposal }
    guard let session else { throw unknown("Redis, where the fleet keeps it, cannot be asked") }
    guard refused == nil else { throw unknown("the fleet's token cannot be used") }
    let text: String
    do throws(StoreFailure) {
      text = try await session.atHome { fleet throws(RedisError) in
        try await fleet.credentials.propose(key, proposal.text, lifeMs: lifeMs)
      }
    } catch { throw unknown(error.description) }
    guard let token = SharedToken(text: text) else {
      throw unknown("what is kept in its place is none")
    }
    return token
  }

  /// The fleet's provider token. No bearer token is the fleet's here, and none is where Redis cannot be asked.
  func current(key: String) async throws(CredentialError) -> SharedToken? {
    guard Self.isProviderToken(key), let session else { return nil }
    do throws(StoreFailure) {
      return try await session.atHome { fleet throws(RedisError) in
        try await fleet.credentials.current(key)
      }.flatMap { SharedToken(text: $0) }
    } catch { throw unknown(error.description) }
  }

  private static func isProviderToken(_ key: String) -> Bool { key.hasPrefix("apns:") }

  private func unknown(_ why: String) -> CredentialError {
    CredentialError(
      reason: "there is no provider token to ask with: \(why)", resumeAtMs: clock.nowMs())
  }
}
