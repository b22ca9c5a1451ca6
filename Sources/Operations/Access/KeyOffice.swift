package import Model
package import Redis
package import Store

/// The keys of the HTTP API: made, listed and revoked. A server looks for a key before it knows the app, and
/// those of operators are for all apps. So the fleet has them once.
package struct KeyOffice {
  /// A key that was made. Nobody can see the text again.
  package struct Issued: Sendable {
    package let key: AccessKey
    package let text: KeyText
  }

  private let fleet: FleetStore

  package init(fleet: FleetStore) { self.fleet = fleet }

  /// Makes a key.
  /// - Parameters:
  ///   - app: of a key for one app; `check` says when there must be one.
  ///   - maker: a user of a machine, or the id of a key.
  ///   - nowMs: epoch milliseconds.
  /// - Returns: nil when there are `StoreLimits.accessKeysMax` keys.
  package func create(
    _ role: KeyRole, app: String?, name: String, by maker: String, nowMs: Int64
  ) async throws(RedisError) -> Issued? {
    while true {
      let text = KeyText(new: role)
      let key = AccessKey(
        id: text.id, role: role, app: app, name: name, secret: text.secret, createdAtMs: nowMs,
        createdBy: maker)
      switch try await fleet.accessKeys.add(key) {
      case .added: return Issued(key: key, text: text)
      // Of 60 random bits: by chance it happens never.
      case .taken: continue
      case .full: return nil
      }
    }
  }

  package func find(_ id: String) async throws(RedisError) -> AccessKey? {
    try await fleet.accessKeys.find(id)
  }

  /// Returns all keys, the oldest first.
  package func list() async throws(RedisError) -> [AccessKey] {
    try await fleet.accessKeys.list().sorted { ($0.createdAtMs, $0.id) < ($1.createdAtMs, $1.id) }
  }

  /// Revokes a key. Each server refuses it within 5 s, and the sessions that were begun with it.
  /// - Returns: false when it was not there.
  package func revoke(_ id: String) async throws(RedisError) -> Bool {
    try await fleet.accessKeys.remove(id)
  }

  /// Checks what a key is to be made of. The pointers are `/app` and `/name`.
  package static func check(
    _ role: KeyRole, app: String?, name: String
  ) throws(InvalidField) {
    if let app {
      guard role.isOfOneApp else {
        throw InvalidField(
          pointer: "/app",
          message: "goes with the role server alone: \(role.rawValue) is for all apps")
      }
      do { try TextRule.checkApp(app) } catch { throw error.under("/app") }
    } else if role.isOfOneApp {
      throw InvalidField(
        pointer: "/app", message: "is missing: a key of the role server is for one app")
    }
    guard !name.isEmpty else { return }
    do { try TextRule.check(name, bytesMax: OperationsLimits.keyNameBytesMax) } catch {
      throw error.under("/name")
    }
  }

  /// Reads the name of a role.
  /// - Throws: with the pointer `/role`.
  package static func role(_ text: String) throws(InvalidField) -> KeyRole {
    if let role = KeyRole(rawValue: text) { return role }
    guard text != "device" else {
      throw InvalidField(
        pointer: "/role",
        message: "must be another one: device is no role of a key. A phone shows a user token "
          + "(JWT), which the app's backend signs for its user. See docs/reference/access.md")
    }
    let names = KeyRole.allCases.map(\.rawValue)
    var message = "must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    if let near = NearestName.suggestion(for: text, among: names) {
      message += "; did you mean \"\(near)\"?"
    }
    throw InvalidField(pointer: "/role", message: message)
  }
}

extension AccessKey {
  /// The key's fields; nothing of its secret.
  package func json() -> JSONObject {
    var object: JSONObject = ["id": .string(id), "role": .string(role.rawValue)]
    object.add(app.map { .string($0) }, for: "app")
    object.add(.string(name), for: "name")
    object.add(.integer(createdAtMs), for: "created_at")
    object.add(.string(createdBy), for: "created_by")
    return object
  }

  /// The words by which an act tells of the key beside its id: its role, and its name where it has one.
  package var words: String { name.isEmpty ? role.rawValue : "\(role.rawValue), \(name)" }
}
