import Reactor
import Testing

@testable import Redis

/// Where a connection goes, without any server.
@Suite struct RedisLocatorTests {
  private static let configured = Endpoint.tcp(host: "seed", port: 6379)
  private static func node(_ number: UInt16) -> Endpoint { .tcp(host: "node", port: number) }

  private var locator: RedisLocator { RedisLocator(RedisEndpoint(endpoint: Self.configured)) }

  @Test("a connection goes where it is configured to, each time anew")
  func fixed() {
    var locator = self.locator
    #expect(locator.place == Self.configured)
    #expect(locator.leave(for: nil) == false)
    #expect(locator.place == Self.configured)
  }

  @Test("it goes to the node that the last one named, and then back to the configured one")
  func moved() {
    var locator = self.locator
    #expect(locator.leave(for: Self.node(1)) == true)
    #expect(locator.place == Self.node(1))
    locator.arrive()
    locator.stay()
    #expect(locator.place == Self.node(1), "the same node, to be rid of a reply")
    #expect(locator.leave(for: nil) == false)
    #expect(locator.place == Self.configured)
  }

  @Test("nodes that send it on in a circle are left for where it is configured to")
  func circle() {
    var locator = self.locator
    for number in 0..<RedisLimits.redirectionsMax {
      #expect(locator.leave(for: Self.node(UInt16(number))) == true)
    }
    #expect(locator.leave(for: Self.node(9)) == false)
    #expect(locator.place == Self.configured)
    // One that was of use begins the count anew.
    #expect(locator.leave(for: Self.node(1)) == true)
    locator.arrive()
    for number in 0..<RedisLimits.redirectionsMax {
      #expect(locator.leave(for: Self.node(UInt16(number))) == true)
    }
  }
}
