internal import Reactor

/// The question to all sentinels of a group where the master is, and a bounded wait for their answers; loop-bound.
///
/// They are asked at once: in turn, each that is dead would cost its time.
final class SentinelQuestion {
  private let group: SentinelGroup
  private let loop: EventLoop
  private var poll: SentinelPoll
  private var inquiries: [SentinelInquiry] = []
  private var timer: LoopTimer?
  private var done: ((SentinelFinding) -> Void)?

  /// - Parameter done: called once.
  init(
    to group: SentinelGroup, on loop: EventLoop, _ done: @escaping (SentinelFinding) -> Void
  ) {
    self.group = group
    self.loop = loop
    self.done = done
    poll = SentinelPoll(sentinels: group.sentinels, name: group.master)
  }

  /// Asks. The question is kept by what waits for the answers.
  func begin() {
    let timer = LoopTimer(loop: loop) { [self] in
      poll.end()
      conclude()
    }
    self.timer = timer
    timer.schedule(afterMs: group.answerMs)
    inquiries = group.sentinels.indices.map { number in
      SentinelInquiry(of: group, sentinel: group.sentinels[number], on: loop) { [self] answer in
        poll.note(answer, of: number)
        conclude()
      }
    }
    for inquiry in inquiries { inquiry.begin() }
  }

  private func conclude() {
    guard let done, let finding = poll.finding else { return }
    self.done = nil
    timer?.cancel()
    timer = nil
    let inquiries = self.inquiries
    self.inquiries = []
    for inquiry in inquiries { inquiry.cancel() }
    done(finding)
  }
}

/// One sentinel that is asked where the master is; loop-bound.
final class SentinelInquiry: RedisLinkOwner {
  /// Looks up the names of all sentinels of a URL at once, also of those that took long before, for which half of it is.
  static let resolver = Resolver(threadsMax: RedisLimits.sentinelLookUpsMax)

  private let group: SentinelGroup
  private let sentinel: Endpoint
  private let loop: EventLoop
  private var link: RedisLink?
  private var done: ((SentinelPoll.Answer) -> Void)?

  /// - Parameter done: called once, and not after `cancel`.
  init(
    of group: SentinelGroup, sentinel: Endpoint, on loop: EventLoop,
    _ done: @escaping (SentinelPoll.Answer) -> Void
  ) {
    self.group = group
    self.sentinel = sentinel
    self.loop = loop
    self.done = done
  }

  func begin() {
    guard done != nil else { return }
    let link = RedisLink(
      loop: loop, place: sentinel, tls: group.tls, scheme: .sentinels, resolver: Self.resolver,
      owner: self)
    self.link = link
    link.open(timeoutMs: group.answerMs)
  }

  func cancel() {
    done = nil
    let link = self.link
    self.link = nil
    link?.close()
  }

  func linkDidOpen(_ link: RedisLink) {
    if let login = group.login {
      link.write(login) { [self] result in
        if case .failure(let error) = result { answer(.failed(group.loginError(error))) }
      }
    }
    link.write(RedisCommand("SENTINEL", "get-master-addr-by-name", group.master)) {
      [self] in answer(Self.read($0))
    }
  }

  func reasonToEnd(_ link: RedisLink, after failure: RedisError) -> RedisError? { nil }

  func linkDidEnd(_ link: RedisLink, _ end: LinkEnd) {
    link.failPending(end.reason)
    answer(.failed(end.reason))
  }

  private func answer(_ answer: SentinelPoll.Answer) {
    guard let done else { return }
    cancel()
    done(answer)
  }

  /// Reads the reply: a host and a port, or null for a name that is not known (redis.io, "High availability with Redis
  /// Sentinel").
  static func read(_ result: Result<RedisReply, RedisError>) -> SentinelPoll.Answer {
    switch result {
    case .success(let reply) where reply.isNull: return .unknownName
    case .success(let reply):
      guard reply.count == 2, (1...RedisLimits.hostBytesMax).contains(reply[0].bytes.count),
        let port = reply[1].integer.flatMap({ UInt16(exactly: $0) }), port > 0
      else { return .failed(.unexpectedReply("it names no host and port")) }
      return .master(.tcp(host: reply[0].string, port: port))
    case .failure(let error) where error.isCommandUnknown:
      return .failed(
        .unsuitable(reason: "it is no Sentinel; a Sentinel's port is 26379 if nobody changed it"))
    case .failure(.server("NOAUTH", _)):
      return .failed(
        .unsuitable(
          reason: "it asks for a login: give redis.sentinel_password_file, and redis.sentinel_user "
            + "if it is not default"))
    case .failure(let error): return .failed(error)
    }
  }
}
