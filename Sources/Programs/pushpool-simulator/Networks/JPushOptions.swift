import ArgumentParser
import Simulator

/// The accounts that the simulated JPush knows.
struct JPushOptions: ParsableArguments {
  @Option(
    name: .customLong("jpush-app"),
    help: ArgumentHelp(
      "A JPush app key with a file of its master secret; repeatable. Without any, every app key and master secret "
        + "passes.", valueName: "key:file"))
  var apps: [String] = []

  func add(to accounts: inout NetworkAccounts) throws {
    accounts.jpushApps += try apps.map { text in
      let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw ValidationError("--jpush-app takes KEY:FILE, not \"\(text)\".")
      }
      return KnownJPushApp(appKey: parts[0], secretFile: parts[1])
    }
  }
}
