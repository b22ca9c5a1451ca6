import LocalServices
import Model
import Testing

@Suite("Accounts at the networks of a stage")
struct NetworkKeysTests {
  @Test(
    "workers and the stand-in are told of an account at each network", arguments: Network.allCases)
  func accounts(network: Network) throws {
    let folder = try TemporaryFolder()
    let keys = try NetworkKeys(folder: folder.path, port: 8_443)
    let account = keys.account(at: network)
    var text = ConfigurationText(
      redisURL: "redis://127.0.0.1",
      apps: [
        .init(
          apns: [.production: "https://localhost:1"],
          others: ConfigurationText.App.others(at: "https://localhost:1"))
      ])
    let members = account.members(of: text.apps[0]) { "'\($0)'" }
    #expect(!members.isEmpty && !account.simulatorOptions.isEmpty && !account.listing.isEmpty)
    let section = "    \(network.rawValue):"
    #expect(text.text(keys).split(separator: "\n").contains { $0 == section })
    text.apps[0].apns = [:]
    text.apps[0].others = [:]
    #expect(!text.text(keys).contains(section))
  }
}
