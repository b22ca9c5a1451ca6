internal import Model
internal import Providers
internal import Store

/// Which of the lane's destinations a job's pushes go to, found once instead of for each push.
struct JobTargets {
  private var targets = NetworkTable(repeating: PushTarget.noCredentials)
  private let apnsTokenKind: TokenKind

  /// The targets of a job of this app.
  init(app: String, content: JobContent, directory: ProviderDirectory) {
    apnsTokenKind = content.apnsTokenKind
    directory.eachNumber(of: app) { targets[$0, $1] = PushTarget(to: $2) }
    for environment in PushEnvironment.allCases where !content.environments.contains(environment) {
      for network in Network.allCases { targets[network, environment] = .unwanted }
    }
  }

  /// The target for a user's binding; `unwanted` when the job is of another kind of push.
  subscript(binding: BindingLine) -> PushTarget {
    target(binding.network, binding.kind, binding.environment)
  }

  /// The same for an installation that a job names, as it is bound.
  subscript(line: InstallationLine, binding: TokenBinding) -> PushTarget {
    target(line.network, binding.kind, binding.environment)
  }

  /// The target for an installation in an environment, whatever kind of push its token is for.
  subscript(line: InstallationLine, in environment: PushEnvironment) -> PushTarget {
    targets[line.network, environment]
  }

  private func target(
    _ network: Network, _ kind: TokenKind, _ environment: PushEnvironment
  ) -> PushTarget {
    guard kind == (network == .apns ? apnsTokenKind : .alert) else { return .unwanted }
    return targets[network, environment]
  }
}
