internal import COpenSSL
internal import Model

/// A key of the HTTP API as Redis keeps it. Of its secret only a digest is kept.
package struct AccessKey: Sendable, Equatable {
  package let id: String
  package let role: KeyRole
  /// The one app that it is for; nil for all apps.
  package let app: String?
  /// A remark of whoever made it; may be empty.
  package let name: String
  /// Epoch milliseconds.
  package let createdAtMs: Int64
  /// The person or the key that made it.
  package let createdBy: String
  /// SHA-256 of the secret's text, as 64 hexadecimal digits.
  private let digest: String

  /// - Parameter secret: the text that its holder shows. It has 256 random bits, so a plain SHA-256 is enough.
  package init(
    id: String, role: KeyRole, app: String?, name: String, secret: String, createdAtMs: Int64,
    createdBy: String
  ) {
    self.id = id
    self.role = role
    self.app = app
    self.name = name
    self.createdAtMs = createdAtMs
    self.createdBy = createdBy
    digest = ContentDigest.sha256(secret)
  }

  /// Whether this is the key's secret. The comparison takes as long for a wrong one.
  package func fits(_ secret: String) -> Bool {
    let (shown, own) = (Array(ContentDigest.sha256(secret).utf8), Array(digest.utf8))
    return shown.count == own.count && CRYPTO_memcmp(shown, own, own.count) == 0
  }

  /// Nil when the value is no key's. A key of one app without an app would be a key for all apps: it is none.
  init?(id: String, value: [UInt8]) {
    guard let object = (try? JSONParser().parse(value))?.objectValue,
      let role = object["role"]?.stringValue.flatMap(KeyRole.init(rawValue:)),
      let digest = object["sha256"]?.stringValue, digest.utf8.count == 64
    else { return nil }
    let app = object["app"]?.stringValue
    guard role.isOfOneApp == (app != nil) else { return nil }
    self.id = id
    self.role = role
    self.app = app
    self.digest = digest
    name = object["name"]?.stringValue ?? ""
    createdAtMs = StoredNumber.instantMs(object["created_at"]?.int64Value ?? 0)
    createdBy = object["created_by"]?.stringValue ?? ""
  }

  /// The JSON that Redis keeps.
  var value: [UInt8] {
    var object: JSONObject = ["role": .string(role.rawValue)]
    object.add(app.map { .string($0) }, for: "app")
    object.add(.string(name), for: "name")
    object.add(.string(digest), for: "sha256")
    object.add(.integer(createdAtMs), for: "created_at")
    object.add(.string(createdBy), for: "created_by")
    return JSONValue.object(object).bytes()
  }
}
