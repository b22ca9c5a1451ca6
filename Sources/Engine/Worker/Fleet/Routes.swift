internal import Model
internal import Providers

/// Which of the lane's destinations a job's pushes go to, found once instead of for each push.
struct Routes {
  /// The app has no credentials there.
  static let none: Int16 = -1
  /// The job is not for this environment.
  static let unwanted: Int16 = -2

  private var numbers = [Int16](
    repeating: Routes.none, count: Network.allCases.count * PushEnvironment.allCases.count)

  /// - Parameter environments: those that the job is for.
  init(app: String, environments: Set<PushEnvironment>, directory: ProviderDirectory) {
    for network in Network.allCases {
      for environment in PushEnvironment.allCases {
        let number =
          directory.position(app: app, network: network, environment: environment)
          .map(Int16.init) ?? Self.none
        numbers[Self.place(network, environment)] =
          environments.contains(environment) ? number : Self.unwanted
      }
    }
  }

  subscript(network: Network, environment: PushEnvironment) -> Int16 {
    numbers[Self.place(network, environment)]
  }

  private static func place(_ network: Network, _ environment: PushEnvironment) -> Int {
    network.index * 2 + (environment == .production ? 0 : 1)
  }
}
