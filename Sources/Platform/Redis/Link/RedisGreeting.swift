internal import Reactor

/// The words on a link before it is used; loop-bound.
///
/// AUTH, SELECT, PING, EXISTS, GET, HELLO, TIME and CLIENT SETNAME go out together. Once all but the last are answered, the server is
/// the one that is meant and serves at least those that read, and the functions are looked for.
final class RedisGreeting {
  private typealias Answer = Result<RedisReply?, RedisError>
  typealias TimeHandler = (_ serverMs: Int64, _ sentNs: UInt64, _ receivedNs: UInt64) -> Void

  private let link: RedisLink
  private let endpoint: RedisEndpoint
  private let loader: LibraryLoader?
  private let onTime: TimeHandler?
  private let done: (RedisError?) -> Void
  /// Commands that are not answered yet.
  private var left = 0
  private var isOver = false

  /// - Parameters:
  ///   - loader: has the functions, where there are any.
  ///   - onTime: called with the server's clock, where that is to be asked.
  ///   - done: called once: with nil when the link can be used, else with the reason.
  init(
    on link: RedisLink, of endpoint: RedisEndpoint, loader: LibraryLoader?, onTime: TimeHandler?,
    _ done: @escaping (RedisError?) -> Void
  ) {
    self.link = link
    self.endpoint = endpoint
    self.loader = loader
    self.onTime = onTime
    self.done = done
  }

  /// Says it. The greeting is kept by the commands that wait for their replies.
  func begin() {
    if let login = endpoint.login {
      ask(login) { [self] in $0.mapError { LoginRefusal.error(for: $0, user: endpoint.user) } }
    }
    if endpoint.database != 0 { ask(RedisCommand("SELECT", String(endpoint.database))) { $0 } }
    // A server that is loading its data, or a replica without its master, answers PING with an error.
    ask(RedisCommand("PING")) { result in
      // One that cannot save refuses PING along with every write (redis.io, "stop-writes-on-bgsave-error"), and answers what
      // only reads.
      if case .failure(.server("MISCONF", _)) = result { return .success(nil) }
      return result
    }
    if let slotKey = endpoint.slotKey { probe(slotKey) }
    if let mark = endpoint.mark { look(for: mark) }
    askIdentity()
    if let onTime { askTime(onTime) }
    // Only a name for CLIENT LIST: an ACL that forbids it is no reason to stay away.
    link.write(RedisCommand("CLIENT", "SETNAME", endpoint.clientName)) { _ in }
  }

  /// A node of a cluster that answers PING may still serve none of our keys: then it is left before the link is called
  /// ready. Any other refusal of the question, as by an ACL, says nothing.
  private func probe(_ slotKey: String) {
    ask(RedisCommand("EXISTS", slotKey)) { [self] result in
      guard case .failure(let error) = result, case .server = error,
        ClusterRefusal(error, here: link.place, slotKey: slotKey) == nil
      else { return result }
      return .success(nil)
    }
  }

  /// A server that says that it is another place is left before anything else is asked of it. One that refuses the question, as to
  /// a user without the right or where the key is of another type, does not have the mark.
  private func look(for mark: RedisMark) {
    ask(RedisCommand("GET", mark.key)) { result in
      switch result {
      case .success(let reply):
        reply.flatMap { mark.refusal(of: $0) }.map { .failure($0) } ?? result
      case .failure(.server): mark.refusalOfNone().map { .failure($0) } ?? .success(nil)
      case .failure: result
      }
    }
  }

  /// A replica, a Sentinel and a server that is no node of a cluster answer PING as well. Asked after the slot's key: a replica
  /// of a cluster names its master, and that leads on.
  private func askIdentity() {
    ask(RedisCommand("HELLO", "2")) { [self] result in
      switch result {
      case .success(let reply):
        let refusal = reply.flatMap { endpoint.refusal(of: ServerIdentity($0)) }
        return refusal.map { .failure($0) } ?? result
      // A proxy before the server need not know it.
      case .failure(.server): return .success(nil)
      case .failure: return result
      }
    }
  }

  /// Functions ask for it as well, so no ACL that lets workers work forbids it.
  private func askTime(_ told: @escaping TimeHandler) {
    let sentNs = link.loop.nowNs
    ask(RedisCommand("TIME")) { [self] result in
      if case .success(let reply?) = result, let serverMs = reply.timeMs {
        told(serverMs, sentNs, link.loop.nowNs)
      }
      return result
    }
  }

  /// Asks something that must be answered before the link is ready.
  /// - Parameter judge: says what the answer means; a failure ends the greeting.
  private func ask(_ command: RedisCommand, _ judge: @escaping (Answer) -> Answer) {
    left += 1
    link.write(command) { [self] result in
      guard !isOver else { return }
      if case .failure(let error) = judge(result.map { Optional($0) }) { return end(error) }
      left -= 1
      if left == 0 { lookForLibrary() }
    }
  }

  private func lookForLibrary() {
    guard let loader else { return end(nil) }
    link.write(RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", loader.library.name)) {
      [self] result in
      guard !isOver else { return }
      switch result {
      case .success(let reply) where reply.count > 0: end(nil)
      case .failure(let error) where error.isCommandUnknown: refuseServer(lacking: "FUNCTION")
      case .success where !loader.isNeeded: end(nil)
      case .failure(let error) where !loader.isNeeded && error.missingRight != nil: end(nil)
      case .success, .failure: loader.load(over: link) { [self] in loaded($0) }
      }
    }
  }

  private func loaded(_ failure: RedisError?) {
    // Out of memory is a state of the server, not of this link: what needs no memory still works.
    end(failure.flatMap { $0.isTemporary ? nil : $0 })
  }

  /// Leaves a server that does not know a command, and says which version it is.
  private func refuseServer(lacking command: String) {
    link.write(RedisCommand("INFO", "server")) { [self] result in
      let version = (try? result.get()).flatMap { Self.version(in: $0.string) }
      let name = version.map { "Redis \($0)" } ?? "the server"
      end(
        .unsuitable(
          reason:
            "\(name) does not know \(command): pushpool needs Redis 7.0 or later with functions"))
    }
  }

  /// Returns the version that INFO says, for instance `6.2.14`.
  private static func version(in info: String) -> String? {
    let line = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("redis_version:") }
    return line.map { String($0.dropFirst("redis_version:".count).prefix(32)) }
  }

  private func end(_ failure: RedisError?) {
    guard !isOver else { return }
    isOver = true
    done(failure)
  }
}

extension RedisReply {
  /// The reply to TIME in epoch milliseconds; nil when it is something else.
  fileprivate var timeMs: Int64? {
    guard count == 2, let seconds = self[0].integer, let microseconds = self[1].integer,
      (0...RedisLimits.epochSecondsMax).contains(seconds), (0..<1_000_000).contains(microseconds)
    else { return nil }
    return Int64(seconds) * 1_000 + Int64(microseconds) / 1_000
  }
}
