import Dispatch
@testable import Reactor
@testable import Redis
import Synchronization
import Testing

/// The look-ups of the names of sentinels.
@Suite struct SentinelLookUpTests {
  /// A name server that answers nobody before so many hosts are asked for at the same time.
  private final class SlowNames: Sendable {
    private let together: Int
    private let state = Mutex((here: 0, isLate: false))
    private let gate = DispatchSemaphore(value: 0)

    init(together: Int) { self.together = together }

    var isLate: Bool { state.withLock { $0.isLate } }

    func lookUp(_ host: String) -> Resolver.Answer {
      let isLast = state.withLock { state in
        state.here += 1
        return state.here.isMultiple(of: together)
      }
      if isLast {
        for _ in 1..<together { gate.signal() }
      } else if gate.wait(timeout: .now() + 20) == .timedOut {
        state.withLock { $0.isLate = true }
      }
      return .failure(.resolve(host: host, reason: "nobody knows it"))
    }
  }

  @Test("all sentinels that a URL may name are looked up at once, also when that took long before")
  func atOnce() async {
    // ConfigurationLimits.redisHostsMax
    let hosts = (0..<16).map { "sentinel-\($0).test" }
    let names = SlowNames(together: hosts.count)
    let resolver = Resolver(threadsMax: RedisLimits.sentinelLookUpsMax) { names.lookUp($0) }
    for round in 0..<2 {
      let (answers, sink) = AsyncStream.makeStream(of: Resolver.Answer.self)
      for host in hosts { resolver.resolve(host: host, port: 26_379) { sink.yield($0) } }
      var count = 0
      for await _ in answers.prefix(hosts.count) { count += 1 }
      #expect(count == hosts.count && !names.isLate, "round \(round)")
    }
  }
}
