/// Gets bearer tokens together with the other replicas of a fleet: what one has exchanged, all use.
struct SharedExchange: Sendable {
  /// The one that exchanges is left so long to do it; then another may.
  private static let turnMs = Int64(CredentialLimits.exchangeTimeoutMs) + 5_000
  /// How often the others look whether it is done.
  private static let lookMs = 200
  /// After the fleet could not be asked.
  private static let pauseMs: Int64 = 1_000

  let exchange: TokenExchange
  let share: any TokenShare
  let clock: WallClock

  /// A token that is not the old one: another replica's, or else one that is exchanged now.
  ///
  /// - Parameter old: what is to be replaced, because it is due or was refused; nil for nothing.
  func token(
    insteadOf old: SharedToken?
  ) async throws(TokenExchange.Failure) -> SharedToken {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    var turn: SharedToken
    while true {
      turn = SharedToken(token: name, issuedAtMs: clock.nowMs())
      if let token = try await agreed(), token != old, isFresh(token) { return token }
      if try await take(turn) { break }
      do { try await Task.sleep(for: .milliseconds(Self.lookMs)) } catch {
        throw TokenExchange.Failure(reason: "the worker ends", waitMsMin: 0, isOfServer: false)
      }
    }
    do throws(TokenExchange.Failure) {
      // The one whose turn it was before may have been done just now.
      if let token = try await agreed(), token != old, isFresh(token) {
        await end(turn)
        return token
      }
      let token = try await exchange.perform()
      let agreed = try await agree(token, insteadOf: try await stale() ?? old)
      await end(turn)
      return agreed
    } catch {
      await end(turn)
      throw error
    }
  }

  // MARK: The fleet's memory

  static func key(of account: ServiceAccount) -> String {
    "fcm:\(account.clientEmail):\(account.keyID ?? ""):\(account.key.digest)"
  }

  private var key: String { Self.key(of: exchange.account) }

  private var turnKey: String { "\(key):turn" }

  private func isFresh(_ token: SharedToken) -> Bool {
    let nowMs = clock.nowMs()
    return nowMs < token.refreshAtMs && !token.isOfFuture(nowMs: nowMs)
  }

  private func agreed() async throws(TokenExchange.Failure) -> SharedToken? {
    do throws(CredentialError) {
      guard let token = try await share.current(key: key), token.lifeMs > 0 else { return nil }
      return token
    } catch { throw failure(error) }
  }

  /// Returns the token that the fleet has and nobody wants any more.
  private func stale() async throws(TokenExchange.Failure) -> SharedToken? {
    guard let token = try await agreed(), !isFresh(token) else { return nil }
    return token
  }

  private func agree(
    _ token: SharedToken, insteadOf old: SharedToken?
  ) async throws(TokenExchange.Failure) -> SharedToken {
    do throws(CredentialError) {
      let agreed = try await share.agree(
        key: key, proposal: token, refused: old,
        lifeMs: max(1, token.refreshAtMs - clock.nowMs()))
      return agreed.lifeMs > 0 ? agreed : token
    } catch { throw failure(error) }
  }

  /// Whether it is this replica's turn to exchange.
  private func take(_ turn: SharedToken) async throws(TokenExchange.Failure) -> Bool {
    do throws(CredentialError) {
      let holder = try await share.agree(
        key: turnKey, proposal: turn, refused: nil, lifeMs: Self.turnMs)
      let nowMs = clock.nowMs()
      // A turn ends by itself, unless its key was written by somebody who did not know that.
      guard holder != turn,
        holder.isOfFuture(nowMs: nowMs) || nowMs - holder.issuedAtMs > Self.turnMs
      else { return holder == turn }
      return try await share.agree(
        key: turnKey, proposal: turn, refused: holder, lifeMs: Self.turnMs) == turn
    } catch { throw failure(error) }
  }

  /// Lets another have the turn; when that fails it ends by itself.
  private func end(_ turn: SharedToken) async {
    let nobody = SharedToken(token: "nobody", issuedAtMs: 0)
    _ = try? await share.agree(key: turnKey, proposal: nobody, refused: turn, lifeMs: 1)
  }

  private func failure(_ error: CredentialError) -> TokenExchange.Failure {
    TokenExchange.Failure(reason: error.reason, waitMsMin: Self.pauseMs, isOfServer: false)
  }
}

extension SharedToken {
  /// When a bearer token is to be replaced: five minutes early, or halfway for one that lives shortly.
  var refreshAtMs: Int64 {
    issuedAtMs + max(lifeMs / 2, lifeMs - CredentialLimits.fcmRefreshEarlyMs)
  }
}
