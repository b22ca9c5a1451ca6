internal import Model
internal import Providers

/// Which of the lane's destinations a job's pushes go to, found once instead of for each push.
struct Routes {
  /// The app has no credentials there.
  static let none: Int16 = -1
  /// The job is not for this environment.
  static let unwanted: Int16 = -2

  private var numbers = NetworkTable(repeating: Routes.none)
  private let apnsTokenKind: TokenKind

  /// The routes of a job of this app.
  init(app: String, content: JobContent, directory: ProviderDirectory) {
    let environments = content.environments
    apnsTokenKind = content.apnsTokenKind
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

  /// The same for a token that is for this kind of push; `unwanted` when the job is of another kind.
  subscript(network: Network, kind: TokenKind, environment: PushEnvironment) -> Int16 {
    guard kind == (network == .apns ? apnsTokenKind : .alert) else { return Self.unwanted }
    return numbers[network, environment]
  }
}
