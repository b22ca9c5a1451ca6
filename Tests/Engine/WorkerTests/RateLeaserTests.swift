import Store
import Logging
import Redis
import Model
import Testing

@testable import Worker

@Suite struct RateLeaserTests {
  private final class Owner: RateLeaseOwner {
    var asked = 0
    var fillings = 0
    func waiting(for lease: RateLease) -> Int { 5 }
    func lease(_ lease: RateLease, asksFor count: Int) { asked = count }
    func leaseWasFilled(_ lease: RateLease) { fillings += 1 }
  }

  @Test("what a lane's part of a rate asks for is taken of the fleet's; without Redis nothing is")
  func leases() async throws {
    try await LaneParts.with { _, parts in
      let owner = Owner()
      let lease = RateLease(
        limit: RateLimit(name: "app:shop", perSecond: 1_000), loop: parts.loop, owner: owner)
      let leaser = RateLeaser(rates: parts.store.rates, reasons: parts.reasons)
      lease.refill()
      #expect(owner.asked > 0 && lease.available == 0)
      await leaser.obtain(owner.asked, for: lease)
      #expect(lease.available > 0 && lease.available <= owner.asked && owner.fillings == 1)

      lease.spend(lease.available)
      lease.refill()
      parts.store.connection.close()
      await leaser.obtain(owner.asked, for: lease)
      #expect(lease.available == 0 && lease.isWaiting && owner.fillings == 1)
      #expect(parts.lines.has(.warning, "sending at the rate app:shop waits for Redis"))
      lease.close()
    }
  }
}
