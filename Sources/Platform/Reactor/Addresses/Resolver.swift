internal import CLinux
internal import Glibc
internal import Synchronization

/// Looks up host names on threads of its own, since getaddrinfo(3) blocks for as long as a name server is silent.
///
/// A host is looked up once at a time, however many ask for it. Threads are bounded, and hosts whose last look-up
/// failed or was slow get half of them at most, so that they do not keep the others waiting.
package final class Resolver: Sendable {
  typealias Answer = Result<[SocketAddress], StreamFailure>

  /// For the push networks. What must not wait for them has a resolver of its own.
  package static let shared = Resolver(threadsMax: ReactorLimits.resolverThreadsMax)

  /// Somebody who waits for a host's addresses.
  struct Ticket {
    fileprivate let host: String
    fileprivate let number: UInt64
  }

  private struct Waiter {
    let number: UInt64
    let port: UInt16
    let answer: @Sendable (Answer) -> Void
  }

  private struct State {
    /// By host; every host that is queued has some.
    var waiters: [String: [Waiter]] = [:]
    var queue: [String] = []
    var running: Set<String> = []
    /// Hosts whose last look-up failed or was slow.
    var troubled: Set<String> = []
    var threads = 0
    var waiting = 0
    var lastNumber: UInt64 = 0
  }

  /// Which of the addresses it finds failed lately.
  let history = AddressHistory()
  private let threadsMax: Int
  private let lookUp: @Sendable (String) -> Answer
  private let state = Mutex(State())

  /// - Parameter threadsMax: how many hosts are looked up at a time.
  package convenience init(threadsMax: Int) {
    self.init(threadsMax: threadsMax) { host in
      #if DEBUG
        if let answer = HostOverride.lookUp(host) { return answer }
      #endif
      return SocketAddress.lookUp(host: host, port: 0, numericOnly: false)
    }
  }

  /// - Parameter lookUp: finds the addresses of a host, with any port; it may block.
  init(threadsMax: Int, lookUp: @escaping @Sendable (String) -> Answer) {
    precondition(threadsMax > 0)
    self.threadsMax = threadsMax
    self.lookUp = lookUp
  }

  /// Calls `answer` once, on a thread of the resolver; or at once when the host is an address already, too many
  /// wait, or there is no thread.
  /// - Returns: what `cancel` takes; nil when the answer has been given.
  @discardableResult
  func resolve(
    host: String, port: UInt16, answer: @escaping @Sendable (Answer) -> Void
  ) -> Ticket? {
    let numeric = SocketAddress.lookUp(host: host, port: port, numericOnly: true)
    if case .success = numeric {
      answer(numeric)
      return nil
    }
    let (ticket, startsThread) = state.withLock { state -> (Ticket?, Bool) in
      guard state.waiting < ReactorLimits.resolverWaitersMax else { return (nil, false) }
      state.waiting += 1
      state.lastNumber += 1
      let waiter = Waiter(number: state.lastNumber, port: port, answer: answer)
      let isKnown = state.waiters[host] != nil || state.running.contains(host)
      state.waiters[host, default: []].append(waiter)
      let ticket = Ticket(host: host, number: waiter.number)
      guard !isKnown else { return (ticket, false) }
      state.queue.append(host)
      guard state.threads < threadsMax else { return (ticket, false) }
      state.threads += 1
      return (ticket, true)
    }
    if startsThread { startThread() }
    if ticket == nil {
      answer(.failure(.resolve(host: host, reason: "too many look-ups are waiting")))
    }
    return ticket
  }

  /// Forgets somebody who waits no longer. A host that nobody waits for is not looked up.
  func cancel(_ ticket: Ticket) {
    state.withLock { state in
      guard var waiters = state.waiters[ticket.host],
        let index = waiters.firstIndex(where: { $0.number == ticket.number })
      else { return }
      waiters.remove(at: index)
      state.waiting -= 1
      state.waiters[ticket.host] = waiters.isEmpty ? nil : waiters
      if waiters.isEmpty { state.queue.removeAll { $0 == ticket.host } }
    }
  }

  private func startThread() {
    do throws(SystemError) {
      try SystemThread.start("a thread that looks up host names") { [self] in work() }.detach()
    } catch {
      // A thread that is there looks the host up later; without any, whoever waits is told.
      let abandoned = state.withLock { state -> [Waiter] in
        state.threads -= 1
        guard state.threads == 0 else { return [] }
        let waiters = state.queue.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }
        state.queue.removeAll()
        state.waiting -= waiters.count
        return waiters
      }
      for waiter in abandoned { waiter.answer(.failure(.system(error))) }
    }
  }

  /// Works until there is nothing for it; the next request then starts a new thread.
  private func work() {
    while let host = next() {
      let startedNs = Self.nowNs()
      let found = lookUp(host)
      var isTroubled = Self.nowNs() &- startedNs >= ReactorLimits.slowLookUpMs * 1_000_000
      if case .failure = found { isTroubled = true }
      for waiter in finish(host, isTroubled: isTroubled) {
        waiter.answer(found.map { $0.map { $0.with(port: waiter.port) } })
      }
    }
  }

  private func next() -> String? {
    state.withLock { state in
      let running = state.running.count { state.troubled.contains($0) }
      let allowsTroubled = running < max(1, threadsMax / 2)
      guard
        let index = state.queue.firstIndex(where: {
          allowsTroubled || !state.troubled.contains($0)
        })
      else {
        state.threads -= 1
        return nil
      }
      let host = state.queue.remove(at: index)
      state.running.insert(host)
      return host
    }
  }

  private func finish(_ host: String, isTroubled: Bool) -> [Waiter] {
    state.withLock { state in
      state.running.remove(host)
      if !isTroubled {
        state.troubled.remove(host)
      } else if state.troubled.count < ReactorLimits.resolverWaitersMax {
        state.troubled.insert(host)
      }
      let waiters = state.waiters.removeValue(forKey: host) ?? []
      state.waiting -= waiters.count
      return waiters
    }
  }

  private static func nowNs() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
