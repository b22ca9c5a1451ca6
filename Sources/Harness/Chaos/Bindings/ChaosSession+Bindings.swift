import Model
import Redis
import Store

/// As devices, backends and push networks change whose a device token is.
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
}
