import Model
import Operations
import Store
import Testing

/// Installations of a fleet, whichever shard each is in.
@Suite struct InstallationOfficeTests {
  @Test func `a token is refused, moved, given a badge and removed in the shard that has it`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let office = InstallationOffice(stores: stores)
      let token = DeviceToken(stored: "aa", network: .apns)
      func install(_ user: String, _ token: DeviceToken, strict: Bool) async throws -> InstallResult
      {
        try await InstallationOffice.install(
          Installation(app: "shop", user: user, token: token), strict: strict, in: stores[1])
      }
      #expect(try await install("u1", token, strict: true).status == .created)
      #expect(try await install("u2", token, strict: true).status == .conflict)
      #expect(try await install("u2", token, strict: false).previousUser == "u1")
      #expect(try await stores[0].installations.installation(app: "shop", token: token) == nil)
      let other = DeviceToken(stored: "bb", network: .apns)
      _ = try await InstallationOffice.install(
        Installation(app: "shop", user: "u2", token: other), in: stores[0])
      #expect(try await office.setBadge(3, app: "shop", user: "u2") == 2)
      #expect(try await office.setBadge(4, app: "shop", user: "u2", token: token) == 1)
      #expect(try await office.uninstall(token, app: "shop", owner: "u1") == .otherOwner)
      #expect(try await office.uninstall(token, app: "shop", owner: "u2") == .removed)
      #expect(try await office.uninstall(token, app: "shop") == .absent)
    }
  }
}
