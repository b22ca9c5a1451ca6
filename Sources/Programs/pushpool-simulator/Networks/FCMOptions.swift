import ArgumentParser
import Simulator

/// The accounts that the simulated FCM knows.
struct FCMOptions: ParsableArguments {
  @Option(
    name: .customLong("service-account"),
    help:
      "A service account file whose assertions are accepted; repeatable. Without any, every bearer token passes."
  )
  var serviceAccountFiles: [String] = []

  func add(to accounts: inout NetworkAccounts) {
    accounts.serviceAccountFiles += serviceAccountFiles
  }
}
