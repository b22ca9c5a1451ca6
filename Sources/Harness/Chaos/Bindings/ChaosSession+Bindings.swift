import Model
import Redis
import Store

/// The operations by which devices, backends and push networks change whose a device token is.
extension ChaosSession {
  func perform(
    _ operation: BindingModel.Operation, app: String, token: DeviceToken
  ) async throws -> BindingModel.Answer {
    switch operation {
    case .install(let user):
      let result = try await store.installations.install(
        Installation(app: app, user: user, token: token))
      return .installed(result.status, previousUser: result.previousUser)
    case .uninstall(let owner):
      return .removal(
        try await store.installations.uninstall(app: app, token: token, owner: owner))
    case .invalidate(let verdict):
      let invalid = Settlement.Invalidation(
        network: token.network, token: token.text, user: verdict.user,
        generation: verdict.generation, sinceMs: verdict.sinceMs, reason: "Unregistered")
      return .removal(try await store.installations.invalidate(app: app, invalid, job: "chaos"))
    }
  }

  func binding(app: String, token: DeviceToken) async throws -> BindingModel.Binding? {
    guard let stored = try await store.installations.installation(app: app, token: token) else {
      return nil
    }
    return BindingModel.Binding(
      user: stored.installation.user, generation: stored.generation,
      updatedAtMs: stored.installation.updatedAtMs ?? 0)
  }

  /// Changes what a user has, in one of five ways, until Redis says that it is done.
  func change(_ number: Int, _ kind: Int, _ crowd: Crowd, _ topic: String) async throws {
    var installation = try crowd.installation(number)
    let subscription = Subscription(app: crowd.app, topic: topic, user: installation.user)
    _ = try await insisting { store in
      switch kind {
      case 0: _ = try await store.installations.install(installation)
      case 1:
        installation.user = "of-" + installation.user
        _ = try await store.installations.install(installation)
      case 2:
        _ = try await store.installations.uninstall(app: crowd.app, token: installation.token)
      case 3: _ = try await store.audiences.subscribe([subscription])
      default: _ = try await store.audiences.unsubscribe([subscription])
      }
    }
  }
}
