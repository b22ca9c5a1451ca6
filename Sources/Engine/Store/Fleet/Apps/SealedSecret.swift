package import Model
package import PushpoolConfiguration

/// A secret as Redis keeps it: encrypted, and bound to the place that it stands in.
package struct SealedSecret: Sendable, Equatable {
  /// The `SealingKey` that sealed it.
  package let keyID: String
  let nonce: [UInt8]
  /// The encrypted secret, and its tag.
  let sealed: [UInt8]
  /// In clear, and bound as the place is.
  package let facts: AppSecretFacts

  init(keyID: String, nonce: [UInt8], sealed: [UInt8], facts: AppSecretFacts) {
    self.keyID = keyID
    self.nonce = nonce
    self.sealed = sealed
    self.facts = facts
  }

  /// Nil when the JSON is none.
  init?(_ json: JSONValue) {
    guard let object = json.objectValue,
      let keyID = object["key_id"]?.stringValue,
      TextRule.isHexadecimal(keyID, digits: StoreLimits.appKeyIDDigits),
      let nonce = object["nonce"]?.stringValue.flatMap({ Base64URL.bytes(of: $0.utf8) }),
      let sealed = object["sealed"]?.stringValue.flatMap({ Base64URL.bytes(of: $0.utf8) }),
      nonce.count == AES256GCM.nonceBytes, sealed.count > AES256GCM.tagBytes,
      let setAtMs = object["set_at"]?.int64Value,
      object["sha256"].map({ $0.stringValue.map(AppSecretFacts.isDigest) ?? false }) ?? true
    else { return nil }
    self.init(
      keyID: keyID, nonce: nonce, sealed: sealed,
      facts: AppSecretFacts(
        digest: object["sha256"]?.stringValue, setAtMs: StoredNumber.instantMs(setAtMs)))
  }

  var json: JSONValue {
    var object: JSONObject = [
      "key_id": .string(keyID), "nonce": .string(Base64URL.text(of: nonce)),
      "sealed": .string(Base64URL.text(of: sealed)),
    ]
    object.add(facts.digest.map { .string($0) }, for: "sha256")
    object.add(.integer(facts.setAtMs), for: "set_at")
    return .object(object)
  }
}

/// The place of a sealed secret: an app, a field of it, and all that the app's record says in clear. A secret opens in its own
/// place only. So nobody who may write Redis, and has no key, gives an app the secret of another, or has a secret sent
/// elsewhere by changing an endpoint.
package struct SealedPlace: Sendable, Equatable {
  let app: String
  let name: AppSecretName
  /// SHA-256 of the form, in hexadecimal.
  let formDigest: String

  /// - Parameter form: as the record has it.
  package init(app: String, _ name: AppSecretName, form: JSONObject) {
    self.app = app
    self.name = name
    formDigest = Self.digest(of: form)
  }

  private init(app: String, _ name: AppSecretName, formDigest: String) {
    self.app = app
    self.name = name
    self.formDigest = formDigest
  }

  /// Returns the place of another secret of the app.
  func other(_ name: AppSecretName) -> SealedPlace {
    SealedPlace(app: app, name, formDigest: formDigest)
  }

  static func digest(of form: JSONObject) -> String {
    ContentDigest.hex(JSONValue.object(form).bytes(), count: 32)
  }

  /// The associated data: as a JSON array no two places have the same text.
  func context(_ facts: AppSecretFacts) -> [UInt8] {
    JSONValue.array([
      .string("pushpool app secret"), .integer(AppRecord.version), .string(app),
      .string(name.text), .string(formDigest), facts.digest.map { .string($0) } ?? .null,
      .integer(facts.setAtMs),
    ]).bytes()
  }
}
