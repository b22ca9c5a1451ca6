import Store
import Logging
import Redis
import Model
import Testing

@testable import Worker

@Suite struct RateKeeperTests {
  private final class Owner: RateAllowanceOwner {
    var asked = 0
    var fillings = 0
    func waiting(for allowance: RateAllowance) -> Int { 5 }
    func allowance(_ allowance: RateAllowance, asksFor count: Int) { asked = count }
    func allowanceWasFilled(_ allowance: RateAllowance) { fillings += 1 }
  }

  @Test("what a lane's part of a rate asks for is taken of the fleet's; without Redis nothing is")
  func allowances() async throws {
    try await LaneStage.with { _, parts in
      let owner = Owner()
      let allowance = RateAllowance(
        limit: RateLimit(name: "app:shop", perSecond: 1_000), loop: parts.loop, owner: owner)
      let keeper = parts.rateKeeper
      allowance.refill()
      #expect(owner.asked > 0 && allowance.available == 0)
      await keeper.obtain(owner.asked, for: allowance)
      // What is granted is void after a while, which a busy machine can take to say so.
      while allowance.available == 0, owner.fillings < 100 {
        allowance.refill()
        await keeper.obtain(owner.asked, for: allowance)
      }
      let fillings = owner.fillings
      #expect(allowance.available > 0 && allowance.available <= owner.asked && fillings >= 1)

      allowance.spend(allowance.available)
      allowance.refill()
      parts.store.connection.close()
      await keeper.obtain(owner.asked, for: allowance)
      #expect(allowance.available == 0 && allowance.isWaiting && owner.fillings == fillings)
      #expect(parts.lines.has(.warning, "sending at the rate app:shop waits for Redis"))
      allowance.close()
    }
  }

  /// The fleet's home, as a lane of another shard asks it.
  private actor Home: HomeRates {
    private(set) var asked: [String] = []
    private var isAway = false

    func leave() { isAway = true }

    func draw(
      _ rate: RateLimit, wanted: Int
    ) async throws(RedisError) -> (granted: Int, retryMs: UInt64) {
      asked.append(rate.name)
      if isAway { throw .unavailable(reason: "away") }
      return (wanted, 0)
    }
  }

  @Test("a rate that other shards share is drawn at home, an app's own beside the app")
  func atHome() async throws {
    try await LaneStage.with { _, parts in
      let home = Home()
      let snapshot = parts.context.snapshot.current
      let keeper = RateKeeper(
        rates: parts.rateKeeper.rates, home: home,
        snapshot: LaneSnapshot(
          WorkerSnapshot(
            directory: snapshot.directory, routes: snapshot.routes, rules: snapshot.rules,
            sharedRates: ["project"])), reasons: parts.reasons)
      let owner = Owner()
      func allowance(_ name: String) -> RateAllowance {
        RateAllowance(
          limit: RateLimit(name: name, perSecond: 1_000), loop: parts.loop, owner: owner)
      }
      let (shared, own) = (allowance("project"), allowance("app:shop"))
      for one in [shared, own] {
        one.refill()
        await keeper.obtain(owner.asked, for: one)
      }
      #expect(await home.asked == ["project"] && owner.fillings == 2)
      // Without the home what is shared waits, and nothing else.
      await home.leave()
      for one in [shared, own] {
        one.spend(one.available)
        one.refill()
        await keeper.obtain(owner.asked, for: one)
      }
      #expect(shared.available == 0 && shared.isWaiting && owner.fillings == 3)
      for one in [shared, own] { one.close() }
    }
  }
}
