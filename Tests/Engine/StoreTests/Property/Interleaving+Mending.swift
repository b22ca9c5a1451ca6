import LocalServices
import Model
import Redis

@testable import Store

extension Interleaving {
  /// Something deletes one half of a binding, somebody may uninstall or install the device meanwhile, and a walk mends it.
  func loseHalf() async throws {
    // Of a record that is lost the channels are as well.
    let bound = model.bindings.filter { $0.value.channels.isEmpty }.keys
    guard let token = random.pick(bound.sorted { $0.text < $1.text }),
      let binding = model.bindings[token]
    else { return }
    if random.chance(percent: 30) {
      note("lose the line of \(token.text)")
      try await loseLine(token, of: binding.user)
      model.renew(token)
      return try await expectMended(1)
    }
    note("lose the record of \(token.text)")
    _ = try await store.redis(
      "DEL", store.keys.token(token.network, app: Self.app, token: token.text))
    switch random.below(4) {
    case 0:
      let found = try await store.installations.uninstall(app: Self.app, token: token, owner: nil)
      try expectSame(found, .absent, "an uninstall without the record")
      model.forget(token)
      try await expectMended(1)
    case 1:
      let found = try await store.installations.uninstall(
        app: Self.app, token: token, owner: binding.user)
      try expectSame(found, model.uninstall(token, owner: binding.user), "an owner's uninstall")
      try await expectMended(0)
    case 2:
      let user = random.pick(Self.users)!
      let installation = Installation(app: Self.app, user: user, token: token, objectID: "o")
      model.forget(token)
      let expected = model.install(installation)
      let found = try await store.installations.install(installation)
      try expectSame(found.status, expected.status, "an install without the record")
      try await expectMended(user == binding.user ? 0 : 1)
    default:
      try await expectMended(1)
      let key = store.keys.token(token.network, app: Self.app, token: token.text)
      model.bindings[token]!.objectID =
        try await store.redis("HGET", key, "object_id").string ?? ""
    }
  }

  private func loseLine(_ token: DeviceToken, of user: String) async throws {
    let key = store.keys.user(app: Self.app, user: user)
    let lines = try await store.redis("GET", key).string ?? ""
    let left = lines.split(separator: "\n").filter {
      !($0.hasPrefix(token.network.rawValue) && $0.hasSuffix("\t\(token.text)"))
    }
    if left.isEmpty {
      _ = try await store.redis("DEL", key)
    } else {
      _ = try await store.redis("SET", key, left.map { $0 + "\n" }.joined())
    }
  }

  private func expectMended(_ count: Int) async throws {
    var walk = BindingWalk()
    while !walk.isOver { walk = try await store.installations.mend(app: Self.app, walk) }
    try expectSame(walk.mended, count, "bindings that were mended")
  }
}
