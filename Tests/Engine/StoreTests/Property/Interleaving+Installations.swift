import LocalServices
import Model

@testable import Store

extension Interleaving {
  static let users = (0..<10).map { "u\($0)" }
  static let channels = ["a", "a:b", "c%"]
  static let tokens =
    (0..<12).map { DeviceToken(stored: "aa\($0)", network: .apns) }
    + (0..<12).map { DeviceToken(stored: "fcm:\($0)", network: .fcm) }

  func operateInstallations() async throws {
    if random.chance(percent: 2) { return try await loseHalf() }
    switch random.below(10) {
    case 0..<4: try await install()
    case 4: try await installMany()
    case 5..<7: try await uninstall()
    case 7: readBinding()
    default: try await invalidate()
    }
  }

  private func installation() -> Installation {
    var installation = Installation(
      app: Self.app, user: random.pick(Self.users)!, token: random.pick(Self.tokens)!,
      objectID: "o\(random.below(1_000_000))")
    installation.updatedAtMs = random.chance(percent: 50) ? Int64(random.below(50)) : nil
    // Half of them name channels, none of them maybe.
    if random.chance(percent: 50) {
      installation.channels = Self.channels.filter { _ in random.chance(percent: 40) }
      installation.leavesChannels = installation.channels.isEmpty
    }
    return installation
  }

  private func install() async throws {
    let installation = installation()
    let isStrict = random.chance(percent: 20)
    note("\(isStrict ? "create" : "install") \(installation.token.text) \(installation.user)")
    let expected = model.install(installation, isStrict: isStrict)
    let found =
      isStrict
      ? try await store.installations.create(installation)
      : try await store.installations.install(installation)
    try expectSame(found.status, expected.status, "install")
    try expectSame(found.objectID, expected.objectID, "the object id of an install")
    try expectSame(found.previousUser, expected.previous, "the previous user of an install")
  }

  private func installMany() async throws {
    let batch = (0..<(1 + random.below(4))).map { _ in installation() }
    note("install_many \(batch.map { "\($0.token.text) \($0.user)" })")
    var created = 0
    var updated = 0
    var moved = 0
    for installation in batch {
      switch model.install(installation).status {
      case .created: created += 1
      case .updated: updated += 1
      case .moved: moved += 1
      case .conflict: break
      }
    }
    let found = try await store.installations.importBatch(batch)
    try expectSame(
      [found.created, found.updated, found.moved], [created, updated, moved], "install_many")
  }

  private func uninstall() async throws {
    let token = random.pick(Self.tokens)!
    let owner = random.chance(percent: 50) ? random.pick(Self.users) : nil
    note("uninstall \(token.text) of \(owner ?? "anyone")")
    let expected = model.uninstall(token, owner: owner)
    let found = try await store.installations.uninstall(app: Self.app, token: token, owner: owner)
    try expectSame(found, expected, "uninstall")
  }

  /// Somebody reads a binding, sends to it, and gets the network's verdict much later.
  func readBinding() {
    guard let token = random.pick(Self.tokens), let binding = model.bindings[token] else { return }
    note("read \(token.text): \(binding.user) \(binding.generation)")
    if readings.count == 30 { readings.removeFirst() }
    readings.append(
      Settlement.Invalidation(
        network: token.network, token: token.text, user: binding.user,
        generation: binding.generation, sinceMs: nil, reason: "Unregistered"))
  }

  /// A network's verdict about a binding that was read at some time.
  func anyVerdict() -> Settlement.Invalidation? {
    guard var verdict = random.pick(readings) else { return nil }
    switch random.below(4) {
    case 0: verdict.sinceMs = nil
    case 1: verdict.sinceMs = ModelBinding.now + 1
    default: verdict.sinceMs = Int64(random.below(50))
    }
    return verdict
  }

  private func invalidate() async throws {
    guard let verdict = anyVerdict() else { return readBinding() }
    note(
      "invalidate \(verdict.token) \(verdict.user) \(verdict.generation) \(verdict.sinceMs ?? -1)")
    let expected = model.invalidate(verdict)
    let found = try await store.installations.invalidate(app: Self.app, verdict, job: "j")
    try expectSame(found, expected, "invalidate")
  }
}
