internal import Model
internal import Providers

/// Which of the lane's destinations a job's pushes go to, found once instead of for each push.
struct Routes {
  /// The app has no credentials there.
  static let none: Int16 = -1
  /// The job is not for this environment.
  static let unwanted: Int16 = -2

  private var numbers = NetworkTable(repeating: Routes.none)

  /// - Parameter environments: those that the job is for.
  init(app: String, environments: Set<PushEnvironment>, directory: ProviderDirectory) {
    for network in Network.allCases {
      for environment in PushEnvironment.allCases {
        let number =
          directory.position(app: app, network: network, environment: environment)
          .map(Int16.init) ?? Self.none
        numbers[network, environment] =
          environments.contains(environment) ? number : Self.unwanted
      }
    }
  }

  subscript(network: Network, environment: PushEnvironment) -> Int16 {
    numbers[network, environment]
  }
}
