import ArgumentParser
import Simulator

/// The accounts that the simulated APNs knows.
struct APNsOptions: ParsableArguments {
  @Option(
    name: .customLong("apns-key"),
    help: ArgumentHelp(
      "A signing key to verify provider tokens with; repeatable. Without any, every signature passes.",
      valueName: "keyid:teamid:file"))
  var keys: [String] = []

  @Option(name: .customLong("topic"), help: "A bundle ID that may be pushed to; repeatable.")
  var topics: [String] = []

  func add(to accounts: inout NetworkAccounts) throws {
    accounts.topics += topics
    accounts.apnsKeys += try keys.map { text in
      let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
      guard parts.count == 3 else {
        throw ValidationError("--apns-key takes KEYID:TEAMID:FILE, not \"\(text)\".")
      }
      return KnownAPNsKey(keyID: parts[0], teamID: parts[1], file: parts[2])
    }
  }
}
