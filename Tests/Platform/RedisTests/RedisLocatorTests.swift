import Reactor
import Testing

@testable import Redis

/// Where a connection goes, without any server.
@Suite struct RedisLocatorTests {
  private static let one = Endpoint.tcp(host: "one", port: 6379)
  private static let two = Endpoint.tcp(host: "two", port: 6379)
  private static let three = Endpoint.tcp(host: "three", port: 6379)
  private static let refused = RedisError.connectionLost(reason: "refused")

  private static func node(_ number: Int) -> Endpoint {
    .tcp(host: "node", port: UInt16(number + 1))
  }

  private func place(_ locator: RedisLocator) -> Endpoint? {
    if case .connect(let place) = locator.step { place } else { nil }
  }

  @Test("a connection goes where it is configured to, each time anew")
  func fixed() {
    var locator = RedisLocator(.server(Self.one))
    for _ in 0..<3 {
      #expect(place(locator) == Self.one)
      let departure = locator.leave(
        Self.one, for: nil, wasOfUse: false, because: Self.refused)
      #expect(departure == .later(Self.refused))
    }
  }

  @Test("it goes to the node that the last one named, and then back to the configured one")
  func moved() {
    var locator = RedisLocator(.server(Self.one))
    #expect(
      locator.leave(Self.one, for: Self.node(1), wasOfUse: false, because: Self.refused) == .atOnce)
    #expect(place(locator) == Self.node(1))
    locator.arrive(at: Self.node(1))
    locator.stay(at: Self.node(1))
    #expect(place(locator) == Self.node(1), "the same node, to be rid of a reply")
    locator.arrive(at: Self.node(1))
    let departure = locator.leave(
      Self.node(1), for: nil, wasOfUse: true, because: Self.refused)
    #expect(departure == .later(Self.refused))
    #expect(place(locator) == Self.one)
  }

  @Test("nodes that send it on in a circle are left for where it is configured to")
  func circle() {
    var locator = RedisLocator(.server(Self.one))
    for number in 0..<RedisLimits.redirectionsMax {
      #expect(
        locator.leave(
          Self.one, for: Self.node(number), wasOfUse: false, because: Self.refused) == .atOnce)
    }
    #expect(
      locator.leave(Self.node(3), for: Self.node(9), wasOfUse: false, because: Self.refused)
        == .later(Self.refused))
    #expect(place(locator) == Self.one)
  }

  @Test("where the configured node is gone, the one that was of use last is asked")
  func configuredNodeGone() {
    var locator = RedisLocator(.server(Self.one))
    _ = locator.leave(Self.one, for: Self.two, wasOfUse: false, because: Self.refused)
    locator.arrive(at: Self.two)
    _ = locator.leave(Self.two, for: nil, wasOfUse: true, because: Self.refused)
    #expect(place(locator) == Self.one)
    #expect(locator.leave(Self.one, for: nil, wasOfUse: false, because: Self.refused) == .atOnce)
    #expect(place(locator) == Self.two)
  }

  @Test("the seeds of a cluster are tried in turn, at once, and a failure names each")
  func seeds() throws {
    var locator = RedisLocator(.cluster(seeds: [Self.one, Self.two, Self.three]))
    for seed in [Self.one, Self.two] {
      #expect(place(locator) == seed)
      #expect(locator.leave(seed, for: nil, wasOfUse: false, because: Self.refused) == .atOnce)
    }
    #expect(place(locator) == Self.three)
    let departure = locator.leave(
      Self.three, for: nil, wasOfUse: false, because: .connectionLost(reason: "no answer"))
    guard case .later(let error) = departure else {
      Issue.record("\(departure)")
      return
    }
    #expect(error.bareReason == "one:6379: refused; two:6379: refused; three:6379: no answer")
    #expect(place(locator) == Self.one, "the next round")
  }

  @Test("of seeds that fail for different reasons the one that tells what to mend is told as that")
  func tellingSeed() {
    func told(_ reasons: RedisError...) -> RedisError? {
      let seeds = [Self.one, Self.two, Self.three]
      var locator = RedisLocator(.cluster(seeds: seeds))
      var departure = RedisLocator.Departure.atOnce
      for (seed, reason) in zip(seeds, reasons) {
        departure = locator.leave(seed, for: nil, wasOfUse: false, because: reason)
      }
      guard case .later(let error) = departure else { return nil }
      return error
    }
    let login = RedisError.server(code: "WRONGPASS", message: "no such user")
    #expect(
      told(Self.refused, login, Self.refused)
        == .server(
          code: "WRONGPASS",
          message: "no such user (two:6379); one:6379: refused; three:6379: refused"))
    #expect(
      told(login, Self.refused, .unsuitable(reason: "no TLS"))
        == .unsuitable(
          reason: "one:6379: WRONGPASS no such user; two:6379: refused; three:6379: no TLS"))
    #expect(told(login, login, login) == login)
  }

  @Test("a master that works is left when most of all sentinels name another, and for nothing less")
  func replaced() throws {
    let group = try SentinelGroup(sentinels: [Self.one], master: "m")
    let locator = RedisLocator(.sentinels(group))
    func reason(
      _ master: Result<Endpoint, RedisError>, isOfMost: Bool, of locator: RedisLocator
    ) -> String? {
      let finding = SentinelFinding(master: master, remark: nil, isOfMost: isOfMost)
      return locator.reasonToLeave(Self.two, after: finding)?.bareReason
    }
    #expect(
      reason(.success(Self.three), isOfMost: true, of: locator)
        == "the sentinels call three:6379 the master m now, and no longer two:6379")
    #expect(reason(.success(Self.three), isOfMost: false, of: locator) == nil)
    #expect(reason(.success(Self.two), isOfMost: true, of: locator) == nil)
    #expect(reason(.failure(Self.refused), isOfMost: false, of: locator) == nil)
    let fixed = RedisLocator(.server(Self.two))
    #expect(reason(.success(Self.three), isOfMost: true, of: fixed) == nil)
  }

  @Test("sentinels are asked before each connection, but not to be rid of a reply")
  func sentinels() throws {
    let group = try SentinelGroup(sentinels: [Self.one], master: "m")
    var locator = RedisLocator(.sentinels(group))
    #expect(place(locator) == nil)
    locator.arrive(at: Self.two)
    #expect(place(locator) == nil)
    locator.stay(at: Self.two)
    #expect(place(locator) == Self.two)
    let departure = locator.leave(
      Self.two, for: nil, wasOfUse: false, because: Self.refused)
    #expect(
      departure
        == .later(
          .connectionLost(reason: "refused (at two:6379, which the sentinels call the master m)")))
    #expect(place(locator) == nil)
  }
}
