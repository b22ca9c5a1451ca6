package import Model
package import PushpoolConfiguration

/// An app as Redis keeps it: its form in clear, its secrets sealed.
package struct AppRecord: Sendable, Equatable {
  /// The version of the record's form. A worker leaves out the app of a record with a higher one.
  static let version = 1

  package let id: String
  /// Another one for each change of the app; 16 hexadecimal digits at random.
  package let revision: String
  /// Epoch milliseconds.
  package let changedAtMs: Int64
  /// The person or the key that changed it last.
  package let changedBy: String
  /// As it was written, which the secrets are bound to.
  package let formJSON: JSONObject
  package let form: AppForm
  package let secrets: [AppSecretName: SealedSecret]

  /// Makes a record of a document.
  /// - Parameters:
  ///   - existing: the app's record; nil when it has none.
  ///   - keys: seal, and open what the document keeps.
  ///   - nowMs: epoch milliseconds.
  ///   - maker: a user of a machine, or the id of a key.
  /// - Throws: when a secret is to be kept that is not there any more, cannot be opened, or would go elsewhere; the pointer is
  ///   the secret's.
  package init(
    _ document: AppDocument, id: String, instead existing: AppRecord?, keys: SealingKeys,
    nowMs: Int64, by maker: String
  ) throws(InvalidField) {
    let formJSON = document.form.json()
    var secrets: [AppSecretName: SealedSecret] = [:]
    for (name, secret) in document.secrets {
      let text: AppSecret
      let facts: AppSecretFacts
      switch secret {
      case .given(let given):
        text = given
        facts = AppSecretFacts(
          digest: name.field.isGuessable ? nil : ContentDigest.hex(given.bytes, count: 8),
          setAtMs: nowMs)
      case .kept(let shown):
        text = try Self.kept(name, shown, for: document.form, in: existing, keys)
        facts = shown
      }
      secrets[name] = keys.seal(text, facts, for: SealedPlace(app: id, name, form: formJSON))
    }
    self.init(
      id: id, changedAtMs: nowMs, changedBy: maker, formJSON: formJSON, form: document.form,
      secrets: secrets)
  }

  private init(
    id: String, changedAtMs: Int64, changedBy: String, formJSON: JSONObject, form: AppForm,
    secrets: [AppSecretName: SealedSecret]
  ) {
    self.id = id
    revision = ContentDigest.hex(RandomBytes.make(16), count: 8)
    self.changedAtMs = changedAtMs
    self.changedBy = Act.cut(changedBy, StoreLimits.actTextBytesMax)
    self.formJSON = formJSON
    self.form = form
    self.secrets = secrets
  }

  private static func kept(
    _ name: AppSecretName, _ facts: AppSecretFacts, for form: AppForm, in existing: AppRecord?,
    _ keys: SealingKeys
  ) throws(InvalidField) -> AppSecret {
    guard let existing, let sealed = existing.secrets[name] else {
      throw InvalidField(
        pointer: name.pointer,
        message:
          "is to stay as it was shown, and the app has no such secret: give the secret itself")
    }
    guard sealed.facts == facts else {
      throw InvalidField(
        pointer: name.pointer,
        message:
          "is to stay as it was shown, and somebody has set another one since: show the app again, "
          + "or give the secret itself")
    }
    // Nobody gets to know a secret by having it sent to a place of their own.
    guard form.sends(name, as: existing.form) else {
      throw InvalidField(
        pointer: name.pointer,
        message:
          "is to stay as it was shown, and would be sent elsewhere: where an endpoint, ca or proxy changes, give the "
          + "secret itself")
    }
    do throws(SealFault) { return try existing.open(name, keys) } catch {
      throw InvalidField(pointer: name.pointer, message: error.description)
    }
  }

  // MARK: As Redis has it

  /// Reads a value of the HASH.
  /// - Throws: a sentence that says why it is no record that this version can read.
  package init(id: String, value: [UInt8]) throws(AppRecordFault) {
    let json: JSONValue
    do throws(JSONSyntaxError) {
      json = try JSONParser(
        bytesMax: StoreLimits.appRecordBytesMax,
        valuesMax: ConfigurationLimits.appDocumentValuesMax
      ).parse(value)
    } catch { throw AppRecordFault(message: "the record is \(error)") }
    guard let object = json.objectValue else {
      throw AppRecordFault(message: "the record is \(json.kindName) and not an object")
    }
    try self.init(id: id, object)
  }

  private init(id: String, _ object: JSONObject) throws(AppRecordFault) {
    guard let version = object["version"]?.int64Value, version >= 1 else {
      throw AppRecordFault(message: "the record has no version")
    }
    guard version == Self.version else {
      throw AppRecordFault(
        message: "the record is of version \(version), which only newer programs read")
    }
    guard let revision = object["revision"]?.stringValue,
      TextRule.isHexadecimal(revision, digits: StoreLimits.appRevisionDigits),
      let formJSON = object["form"]?.objectValue, let sealed = object["secrets"]?.objectValue
    else { throw AppRecordFault(message: "the record is not one that pushpool has written") }
    self.id = id
    self.revision = revision
    self.formJSON = formJSON
    changedAtMs = StoredNumber.instantMs(object["changed_at"]?.int64Value ?? 0)
    changedBy = Act.cut(
      object["changed_by"]?.stringValue ?? "", StoreLimits.actTextBytesMax)
    do throws(InvalidField) { form = try AppForm(.object(formJSON)) } catch {
      throw AppRecordFault(pointer: error.pointer, message: error.message)
    }
    var secrets: [AppSecretName: SealedSecret] = [:]
    for member in sealed.members {
      guard let name = AppSecretName(member.name), let secret = SealedSecret(member.value) else {
        throw AppRecordFault(
          message:
            "the record has a secret \"\(FieldPointer.printable(member.name))\" that pushpool has not written"
        )
      }
      secrets[name] = secret
    }
    self.secrets = secrets
  }

  /// The JSON that Redis keeps.
  /// - Throws: when it is too long.
  package func value() throws(InvalidField) -> [UInt8] {
    var sealed = JSONObject()
    for name in AppSecretName.all { sealed.add(secrets[name]?.json, for: name.text) }
    let object: JSONObject = [
      "version": .integer(Self.version), "revision": .string(revision),
      "changed_at": .integer(changedAtMs), "changed_by": .string(changedBy),
      "form": .object(formJSON), "secrets": .object(sealed),
    ]
    let value = JSONValue.object(object).bytes()
    guard value.count <= StoreLimits.appRecordBytesMax else {
      throw InvalidField(
        pointer: "",
        message: "makes a record of \(value.count) bytes, and a record has at most "
          + "\(StoreLimits.appRecordBytesMax): leave certificates out that the app does not need")
    }
    return value
  }

  // MARK: Its secrets

  /// The keys that have sealed its secrets, each once.
  package var keyIDs: [String] { Set(secrets.values.map(\.keyID)).sorted() }

  /// Opens a secret that the record has.
  func open(_ name: AppSecretName, _ keys: SealingKeys) throws(SealFault) -> AppSecret {
    guard let sealed = secrets[name] else { throw .changed }
    return try keys.open(sealed, for: SealedPlace(app: id, name, form: formJSON))
  }

  /// Opens all of its secrets.
  /// - Throws: the first that cannot be opened, or that is not there and must be.
  package func open(_ keys: SealingKeys) throws(AppRecordFault) -> [AppSecretName: AppSecret] {
    var opened: [AppSecretName: AppSecret] = [:]
    guard let first = secrets.keys.first else {
      throw AppRecordFault(message: "the record has no secret")
    }
    let place = SealedPlace(app: id, first, form: formJSON)
    for (name, sealed) in secrets {
      do throws(SealFault) { opened[name] = try keys.open(sealed, for: place.other(name)) } catch {
        throw AppRecordFault(pointer: name.pointer, message: error.description)
      }
    }
    if let name = form.requiredSecrets.first(where: { opened[$0] == nil }) {
      throw AppRecordFault(
        pointer: name.pointer,
        message: "is missing in the record: set the app anew (pushpool app set)")
    }
    return opened
  }

  /// Whether the newest of the keys has sealed all of it.
  package func isSealed(with keys: SealingKeys) -> Bool {
    secrets.values.allSatisfy { $0.keyID == keys.newest.id }
  }

  /// The record with its secrets sealed anew, with the newest key. All else stays as it is, but for the revision.
  package func resealed(_ keys: SealingKeys) throws(AppRecordFault) -> AppRecord {
    var sealed: [AppSecretName: SealedSecret] = [:]
    for (name, secret) in try open(keys) {
      guard let facts = secrets[name]?.facts else { continue }
      sealed[name] = keys.seal(
        secret, facts, for: SealedPlace(app: id, name, form: formJSON))
    }
    return AppRecord(
      id: id, changedAtMs: changedAtMs, changedBy: changedBy, formJSON: formJSON, form: form,
      secrets: sealed)
  }
}

/// Why a record is none that this version can read, or why its app cannot be sent for.
package struct AppRecordFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The place in the app that it is about, as a JSON pointer; empty for the whole record.
  package let pointer: String
  /// A sentence, without secrets.
  package let message: String

  package init(pointer: String = "", message: String) {
    self.pointer = pointer
    self.message = message
  }

  package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }
}
