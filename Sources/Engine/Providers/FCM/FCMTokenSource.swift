package import HTTPClient
package import Reactor
import Synchronization

/// Bearer tokens of one service account: exchanged through OAuth, renewed five minutes early.
///
/// One exchange is under way at a time, whoever asks: lanes without a usable token wait for it together,
/// lanes whose token is merely due go on with the old one. A failed exchange backs off exponentially.
///
/// Replicas that share use one token: one of them, whose turn it is, exchanges it, and the others wait for
/// what it gets.
package final class FCMTokenSource: SharedTokenSource {
  private typealias Answer = Result<Credential, CredentialError>
  private typealias Waiter = UnsafeContinuation<Answer, Never>

  private struct State {
    var credential: Credential?
    /// FCM said no to `credential`; it is not handed out again.
    var isRefused = false
    var isExchanging = false
    var waiters: [Waiter] = []
    var failureCount = 0
    var failure: CredentialError?
    /// When a token was refused last.
    var refusalAtMs: Int64?
    var backOff = RefusalBackOff()
    /// `credential` as the fleet has it.
    var shared: SharedToken?
    var share: (any TokenShare)?
  }

  private let exchange: TokenExchange
  private let clock: WallClock
  private let state = Mutex(State())

  /// - Parameter authorities: certificates in PEM of whom to trust at the account's `token_uri`; where libcurl knows no folder
  ///   of the system's, these alone.
  package init(
    account: ServiceAccount, client: HTTPClient, authorities: [UInt8]? = nil,
    proxy: ProxyServer? = nil, clock: WallClock = .system
  ) {
    exchange = TokenExchange(
      account: account, client: client, authorities: authorities, proxy: proxy, clock: clock)
    self.clock = clock
  }

  /// Agrees on tokens with the fleet from now on; with nil, this process exchanges its own.
  package func share(through share: (any TokenShare)?) {
    state.withLock { $0.share = share }
  }

  /// The key under which the fleet keeps the token.
  var shareKey: String { SharedExchange.key(of: exchange.account) }

  package func current() async throws(CredentialError) -> Credential {
    try await answer { [self] state, waiter in
      let nowMs = clock.nowMs()
      guard let credential = usable(state, nowMs) else {
        return wait(&state, waiter, nowMs)
      }
      let isDue = credential.refreshAtMs <= nowMs
      if isDue, !state.isExchanging, backOff(state, nowMs) == nil {
        state.isExchanging = true
        return (.success(credential), true)
      }
      return (.success(credential), false)
    }
  }

  package func refused(
    generation: UInt64, reason: String
  ) async throws(CredentialError) -> Credential {
    try await answer { [self] state, waiter in
      let nowMs = clock.nowMs()
      if let credential = usable(state, nowMs), credential.generation != generation {
        return (.success(credential), false)
      }
      if state.isExchanging || state.credential?.generation != generation {
        return wait(&state, waiter, nowMs)
      }
      state.isRefused = true
      if let error = backOff(state, nowMs) { return (.failure(error), false) }
      let sinceMs = state.refusalAtMs.map { nowMs - $0 } ?? .max
      state.refusalAtMs = nowMs
      // The first refusal may only mean that the token has ended. When its successor is refused as well, each further one is
      // got later than the one before.
      if (0...CredentialLimits.refusalsApartMs).contains(sinceMs) {
        let error = CredentialError(
          reason: "FCM refused one token after the other of \(exchange.account.clientEmail): "
            + "\(reason); \(remedy(reason))",
          resumeAtMs: nowMs + state.backOff.waitMs(nowMs: nowMs))
        state.failure = error
        return (.failure(error), false)
      }
      return wait(&state, waiter, nowMs)
    }
  }

  private func remedy(_ reason: String) -> String {
    let (project, account) = (exchange.account.projectID, exchange.account.clientEmail)
    return FCMRefusal.remedy(reason, project: project, account: account)
      ?? "check that the account may send for project \(project), and \(clock.advice)"
  }

  /// Runs `decide` under the lock. It returns an answer at once, or nil when it has kept the waiter,
  /// and whether the caller has to begin the exchange that it announced.
  private func answer(
    _ decide: (inout State, Waiter) -> (Answer?, begins: Bool)
  ) async throws(CredentialError) -> Credential {
    let answer = await withUnsafeContinuation { (waiter: Waiter) in
      let (answer, begins) = state.withLock { decide(&$0, waiter) }
      if begins { begin() }
      if let answer { waiter.resume(returning: answer) }
    }
    return try answer.get()
  }

  /// Joins the exchange that is under way, or begins one, unless a failed one says to wait.
  private func wait(
    _ state: inout State, _ waiter: Waiter, _ nowMs: Int64
  ) -> (Answer?, begins: Bool) {
    if !state.isExchanging, let error = backOff(state, nowMs) { return (.failure(error), false) }
    state.waiters.append(waiter)
    defer { state.isExchanging = true }
    return (nil, !state.isExchanging)
  }

  private func usable(_ state: State, _ nowMs: Int64) -> Credential? {
    guard let credential = state.credential, !state.isRefused, nowMs < credential.expiresAtMs,
      state.shared?.isOfFuture(nowMs: nowMs) == false
    else { return nil }
    return credential
  }

  private func backOff(_ state: State, _ nowMs: Int64) -> CredentialError? {
    guard let failure = state.failure else { return nil }
    // A remaining time longer than any back-off means that the clock was set back.
    let remainingMs = failure.resumeAtMs - nowMs
    return (1...CredentialLimits.exchangeBackOffMsMax).contains(remainingMs) ? failure : nil
  }

  /// The exchange belongs to no caller: cancelling the lane that began it takes nothing from the others.
  private func begin() {
    Task { await self.renew() }
  }

  @concurrent
  private func renew() async {
    let (share, old) = state.withLock { ($0.share, $0.shared) }
    let result: Result<SharedToken, TokenExchange.Failure>
    do throws(TokenExchange.Failure) {
      if let share {
        let fleet = SharedExchange(exchange: exchange, share: share, clock: clock)
        result = .success(try await fleet.token(insteadOf: old))
      } else {
        result = .success(try await exchange.perform())
      }
    } catch {
      result = .failure(error)
    }
    let nowMs = clock.nowMs()
    let (answer, waiters) = state.withLock { state in
      let answer = settle(&state, result, nowMs)
      defer { state.waiters.removeAll() }
      return (answer, state.waiters)
    }
    for waiter in waiters { waiter.resume(returning: answer) }
  }

  private func settle(
    _ state: inout State, _ result: Result<SharedToken, TokenExchange.Failure>,
    _ nowMs: Int64
  ) -> Answer {
    state.isExchanging = false
    switch result {
    case .success(let token):
      let credential = Credential(
        header: "Bearer \(token.token)", generation: (state.credential?.generation ?? 0) + 1,
        expiresAtMs: token.issuedAtMs + token.lifeMs, refreshAtMs: token.refreshAtMs)
      state.credential = credential
      state.shared = token
      state.isRefused = false
      state.failure = nil
      state.failureCount = 0
      return .success(credential)
    case .failure(let failure):
      let doublings = min(state.failureCount, 16)
      let ceilingMs = min(
        CredentialLimits.exchangeBackOffMsMin << doublings, CredentialLimits.exchangeBackOffMsMax)
      // Jitter keeps replicas that failed together from asking together.
      let waitMs = max(failure.waitMsMin, Int64.random(in: ceilingMs / 2...ceilingMs))
      let error = CredentialError(reason: failure.reason, resumeAtMs: nowMs + waitMs)
      if failure.isOfServer { state.failureCount += 1 }
      state.failure = error
      return .failure(error)
    }
  }
}

/// Remedies for the refusals that Google explains (google.rpc.ErrorInfo; cloud.google.com, google.api.ErrorReason).
package enum FCMRefusal {
  /// The rest of a sentence; nil for a reason that nothing is known of.
  package static func remedy(_ reason: String, project: String, account: String) -> String? {
    switch reason {
    case "SERVICE_DISABLED":
      "enable the Firebase Cloud Messaging API (fcm.googleapis.com) for project \(project) in the "
        + "Google Cloud console, and wait some minutes"
    case "BILLING_DISABLED": "enable billing for project \(project) in the Google Cloud console"
    case "CONSUMER_SUSPENDED": "Google has suspended project \(project): ask its support"
    case "CONSUMER_INVALID":
      "project \(project) does not exist or is deleted: use the service account of the app's project"
    case "IAM_PERMISSION_DENIED", "USER_PROJECT_DENIED":
      "give \(account) the role Firebase Cloud Messaging API Admin in project \(project)"
    case "ACCOUNT_STATE_INVALID":
      "\(account) is disabled or deleted: enable it, or use another service account"
    case "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
      "the token does not allow messages: check the service account's token_uri"
    default: nil
    }
  }
}
