import ArgumentParser
import LocalServices
import Simulator

/// The accounts that the simulated networks know, from the command line or of keys that were made.
///
/// The registry of this program: each network's options are a type of their own, which is named here.
struct NetworkOptions: ParsableArguments {
  @OptionGroup var apns: APNsOptions
  @OptionGroup var fcm: FCMOptions
  @OptionGroup var jpush: JPushOptions

  func add(to accounts: inout NetworkAccounts) throws {
    try apns.add(to: &accounts)
    fcm.add(to: &accounts)
    try jpush.add(to: &accounts)
  }

  func validate() throws {
    var accounts = NetworkAccounts()
    try add(to: &accounts)
  }

  /// The options of keys that were made, which are those of a process that is started with them.
  static func of(_ keys: NetworkKeys) throws -> NetworkOptions {
    try parse(keys.accounts.flatMap(\.simulatorOptions))
  }
}
