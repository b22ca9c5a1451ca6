internal import ArgumentParser
internal import Model

/// Whom a job is previewed for.
struct PreviewOptions: ParsableArguments {
  @Flag(help: "Print the request that each device would get; enqueue and send nothing.")
  var dryRun = false

  @Option(help: "With --dry-run: for all devices of this user.")
  var user: String?

  @Option(help: "With --dry-run: for the device with this token.")
  var token: String?

  @Option(
    help: "With --dry-run: for any device of \(Network.alternatives), without asking Redis.")
  var network: Network?

  @Option(help: "With --network: production (default) or development.")
  var environment: PushEnvironment?

  func validate() throws {
    let subjects = [user, token, network?.rawValue].count { $0 != nil }
    guard dryRun else {
      if subjects > 0 || environment != nil {
        throw ValidationError(
          "--user, --token, --network and --environment are for --dry-run: add it.")
      }
      return
    }
    guard subjects == 1 else {
      throw ValidationError(
        "--dry-run needs to know for whom: give one of --user, --token and --network.")
    }
    guard environment == nil || network != nil else {
      throw ValidationError("--environment is for --network: an installation has its own.")
    }
  }
}
