import Model
import Operations
import Store
import Testing

@Suite struct InstallationLookupTests {
  @Test func `a user's devices are found in whichever shard they are`() async throws {
    try await Shards.withStores { _, stores in
      let lookup = InstallationLookup(stores: stores)
      for (store, token) in zip(stores, ["aa", "bb"]) {
        _ = try await store.installations.install(
          Installation(
            app: "shop", user: "u1", token: DeviceToken(stored: token, network: .apns)))
      }
      let devices = try await lookup.devices(app: "shop", user: "u1")
      #expect(devices.map(\.installation.token.text) == ["aa", "bb"])
      #expect(try await lookup.devices(app: "shop", user: "u2") == [])
      let token = DeviceToken(stored: "bb", network: .apns)
      let found = try await lookup.installation(app: "shop", token: token)
      #expect(found?.installation.user == "u1")
      let unknown = DeviceToken(stored: "cc", network: .apns)
      #expect(try await lookup.installation(app: "shop", token: unknown) == nil)
    }
  }
}
