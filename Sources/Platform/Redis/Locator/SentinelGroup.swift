package import Reactor
internal import Synchronization

/// The sentinels that watch one master. All connections of a process share it: those that want to know at the same time where
/// the master is ask together, on the loop of the first.
package final class SentinelGroup: Sendable {
  /// One connection that waits for the answer, on its loop.
  private struct Waiter: @unchecked Sendable {
    let loop: EventLoop
    let request: SentinelRequest
  }

  private struct State {
    var waiters: [Waiter] = []
    /// Since when somebody asks; nil when nobody does.
    var askedNs: UInt64?
    var finding: SentinelFinding?
    var foundNs: UInt64 = 0
  }

  private enum Turn {
    case told(SentinelFinding)
    case waits
    case asks
  }

  let sentinels: [Endpoint]
  /// The name that they know it by.
  let master: String
  let tls: TLSContext?
  /// How long they may take to say where the master is, connecting included.
  let answerMs: UInt64
  private let user: String?
  private let password: String?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - caFile: authorities (PEM) trusted beside the system's, for TLS with the sentinels.
  ///   - user: at the sentinels, which have users of their own; nil for `default`.
  ///   - answerMs: as the property.
  package init(
    sentinels: [Endpoint], master: String, tls: Bool = false, caFile: String? = nil,
    user: String? = nil, password: String? = nil,
    answerMs: UInt64 = RedisLimits.sentinelAnswerMs
  ) throws(TLSError) {
    self.sentinels = sentinels
    self.master = master
    self.tls = tls ? try TLSContext.client(caFile: caFile) : nil
    self.user = user
    self.password = password
    self.answerMs = answerMs
  }

  /// How long a connection waits for the one that asks them, which may end before it has an answer.
  var waitMs: UInt64 { 3 * answerMs }

  /// The command that logs in at a sentinel; nil where they ask nobody who they are.
  var login: RedisCommand? { RedisCommand.login(user: user, password: password) }

  /// Says an error of the login in words of our own.
  func loginError(_ refusal: RedisError) -> RedisError {
    LoginRefusal.error(for: refusal, user: user, passwordFields: "redis.sentinel_password_file")
  }

  /// Has the request told where the master is, on this loop: at once where that was learned so short a time ago.
  func locate(
    on loop: EventLoop, freshMs: UInt64 = RedisLimits.sentinelFreshMs, _ request: SentinelRequest
  ) {
    let waiter = Waiter(loop: loop, request: request)
    let nowNs = EventLoop.clockNs()
    let turn = state.withLock { state -> Turn in
      if let finding = state.finding,
        nowNs &- state.foundNs < freshMs * 1_000_000
      {
        return .told(finding)
      }
      state.waiters.append(waiter)
      // A loop may have ended with its question.
      if let askedNs = state.askedNs,
        nowNs &- askedNs < 2 * answerMs * 1_000_000
      {
        return .waits
      }
      state.askedNs = nowNs
      return .asks
    }
    switch turn {
    case .told(let finding): request.tell(finding)
    case .waits: break
    case .asks: SentinelQuestion(to: self, on: loop) { [self] in finish($0) }.begin()
    }
  }

  private func finish(_ finding: SentinelFinding) {
    let nowNs = EventLoop.clockNs()
    let waiters = state.withLock { state -> [Waiter] in
      let waiters = state.waiters
      state = State(waiters: [], askedNs: nil, finding: finding, foundNs: nowNs)
      return waiters
    }
    for waiter in waiters { waiter.loop.execute { waiter.request.tell(finding) } }
  }
}

extension SentinelGroup: CustomStringConvertible {
  package var description: String {
    "the master \(master) of the sentinels " + sentinels.map { "\($0)" }.joined(separator: ", ")
  }
}

/// Somebody who wants to know where the master is; loop-bound.
final class SentinelRequest {
  private var told: ((SentinelFinding) -> Void)?

  /// - Parameter told: called once at most, and not after `cancel`.
  init(_ told: @escaping (SentinelFinding) -> Void) { self.told = told }

  func tell(_ finding: SentinelFinding) {
    let told = self.told
    self.told = nil
    told?(finding)
  }

  func cancel() { told = nil }
}
