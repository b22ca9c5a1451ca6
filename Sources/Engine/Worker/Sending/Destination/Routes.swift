internal import Model
internal import Providers
internal import Store

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

  /// The route for a user's binding; `unwanted` when the job is of another kind of push.
  subscript(binding: BindingLine) -> Route {
    route(binding.network, binding.kind, binding.environment)
  }

  /// The same for an installation that a job names, as it is bound.
  subscript(line: InstallationLine, binding: TokenBinding) -> Route {
    route(line.network, binding.kind, binding.environment)
  }

  /// The route for an installation in an environment, whatever kind of push its token is for.
  subscript(line: InstallationLine, in environment: PushEnvironment) -> Route {
    routes[line.network, environment]
  }

  private func route(
    _ network: Network, _ kind: TokenKind, _ environment: PushEnvironment
  ) -> Route {
    guard kind == (network == .apns ? apnsTokenKind : .alert) else { return .unwanted }
    return routes[network, environment]
  }
}
