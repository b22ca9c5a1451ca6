import Model

@testable import Store

extension StoreModel {
  /// - Parameter isStrict: leaves an existing token alone.
  mutating func install(
    _ installation: Installation, isStrict: Bool = false
  ) -> (status: InstallResult.Status, objectID: String, previous: String) {
    let token = installation.token
    let old = bindings[token]
    if isStrict, let old { return (.conflict, old.objectID, old.user) }
    let isMoved = old.map { $0.user != installation.user } ?? false
    if isMoved { overwritten += 1 }
    if let old { devices[old.user]?.removeAll { $0 == token } }
    evict(installation.user)
    devices[installation.user, default: []].append(token)
    var updated = installation.updatedAtMs ?? ModelBinding.now
    if let old, !isMoved { updated = max(updated, old.updatedAtMs) }
    generation += 1
    let isNamed = !installation.channels.isEmpty || installation.leavesChannels
    let channels = isNamed || isMoved ? installation.channels : old?.channels ?? []
    let objectID = old?.objectID ?? installation.objectID ?? ""
    bindings[token] = ModelBinding(
      user: installation.user, generation: generation, updatedAtMs: updated, objectID: objectID,
      channels: channels)
    return (isMoved ? .moved : old == nil ? .created : .updated, objectID, old?.user ?? "")
  }

  /// Makes room for one more: what was installed the longest ago goes.
  private mutating func evict(_ user: String) {
    guard let owned = devices[user], owned.count >= Self.installationsPerUserMax else { return }
    evicted += 1
    remove(owned[0])
  }

  mutating func uninstall(_ token: DeviceToken, owner: String?) -> UninstallAnswer {
    guard let old = bindings[token] else { return .absent }
    if let owner, owner != old.user { return .otherOwner }
    overwritten += 1
    remove(token)
    return .removed
  }

  mutating func invalidate(_ verdict: Settlement.Invalidation) -> UninstallAnswer {
    let token = DeviceToken(stored: verdict.token, network: verdict.network)
    guard let old = bindings[token] else { return .absent }
    guard old.user == verdict.user, old.generation == verdict.generation,
      verdict.sinceMs.map({ $0 >= old.updatedAtMs }) ?? true
    else { return .stale }
    uninstalled += 1
    remove(token)
    return .removed
  }

  /// A line that was written anew is the last of its user's.
  mutating func renew(_ token: DeviceToken) {
    guard let binding = bindings[token] else { return }
    devices[binding.user]?.removeAll { $0 == token }
    devices[binding.user]?.append(token)
  }

  /// Takes a binding away without a word to anybody.
  mutating func forget(_ token: DeviceToken) { remove(token) }

  private mutating func remove(_ token: DeviceToken) {
    guard let old = bindings.removeValue(forKey: token) else { return }
    devices[old.user]?.removeAll { $0 == token }
  }
}
