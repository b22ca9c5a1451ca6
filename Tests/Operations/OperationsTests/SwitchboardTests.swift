import Model
import Operations
import Store
import Testing

/// Switches of a fleet, which are in all of its shards.
@Suite struct SwitchboardTests {
  private static let shop = KillSwitch.app("shop")

  @Test func `what is switched off is off in every shard, with the first reason`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let board = Switchboard(stores: stores)
      guard case .off(let remark) = try await board.switchOff(Self.shop, reason: "wrong text")
      else {
        Issue.record("it was off before")
        return
      }
      #expect(remark.reason == "wrong text")
      for store in stores {
        #expect(try await store.switches.read().entries.map(\.killSwitch) == [Self.shop])
      }
      guard case .already(let first) = try await board.switchOff(Self.shop, reason: "again") else {
        Issue.record("it was on")
        return
      }
      #expect(first.reason == "wrong text")
      let reading = try await board.read()
      #expect(reading.entries.count == 1 && reading.count == 1 && !reading.isOverfull)
      #expect(try await board.switchOn(Self.shop))
      #expect(try await board.switchOn(Self.shop) == false)
      #expect(try await board.read().entries == [])
    }
  }

  @Test func `what is off in one shard only is listed, completed and switched on`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let board = Switchboard(stores: stores)
      _ = try await stores[1].switches.switchOff(Self.shop, reason: "")
      #expect(try await board.read().entries.map(\.killSwitch) == [Self.shop])
      guard case .off = try await board.switchOff(Self.shop, reason: "") else {
        Issue.record("it was off everywhere")
        return
      }
      _ = try await stores[0].switches.switchOn(Self.shop)
      #expect(try await board.switchOn(Self.shop))
    }
  }
}
