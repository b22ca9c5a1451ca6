internal import Model
internal import Providers

/// Which of the lane's destinations a job's pushes go to, found once instead of for each push.
struct Routes {
  private var routes = NetworkTable(repeating: Route.noCredentials)
  private let apnsTokenKind: TokenKind

  /// The routes of a job of this app.
  init(app: String, content: JobContent, directory: ProviderDirectory) {
    apnsTokenKind = content.apnsTokenKind
    directory.eachNumber(of: app) { routes[$0, $1] = Route(to: $2) }
    for environment in PushEnvironment.allCases where !content.environments.contains(environment) {
      for network in Network.allCases { routes[network, environment] = .unwanted }
    }
  }

  subscript(network: Network, environment: PushEnvironment) -> Route {
    routes[network, environment]
  }

  /// The route for a token that is for this kind of push; `unwanted` when the job is of another kind.
  subscript(network: Network, kind: TokenKind, environment: PushEnvironment) -> Route {
    guard kind == (network == .apns ? apnsTokenKind : .alert) else { return .unwanted }
    return routes[network, environment]
  }
}
