internal import Model

/// Makes installations of those that another push service has exported.
struct ForeignMapping {
  /// A field that an installation comes without.
  struct LeftOut: Equatable {
    let field: String
    let reason: String
  }

  /// A field as it was exported, and as an installation has it.
  private struct Mapped {
    let source: String
    let target: String
    let value: JSONValue
  }

  let fields: ForeignFields
  let app: String
  /// The field that names the user.
  let userField: String
  let environment: PushEnvironment

  /// Returns what names an exported installation to its owner; nil when nothing does.
  func objectID(of object: JSONObject) -> String? {
    fields.objectID.lazy.compactMap { object[$0]?.stringValue }.first
  }

  /// - Throws: why it cannot be installed; the error's pointer is empty.
  func installation(
    of object: JSONObject
  ) throws(InvalidField) -> (installation: Installation, leftOut: [LeftOut]) {
    let (network, token) = try address(object)
    let required: JSONObject = [
      "app": .string(app), "environment": .string(environment.rawValue),
      "network": .string(network.rawValue), "token": .string(token),
      "user": .string(try user(object)),
    ]
    var leftOut: [LeftOut] = []
    let known = known(object)
    let custom = custom(object, &leftOut)
    // Nearly all installations are right as they are.
    if let installation = try? Installation(json: Self.document(required, known, custom)) {
      return (installation, leftOut)
    }
    do throws(InvalidField) { _ = try Installation(json: .object(required)) } catch {
      let source = error.pointer == "/user" ? userField : ForeignFields.deviceToken
      throw Self.refusal("its \(source): \(error.message)")
    }
    let rightKnown = known.filter { Self.isRight($0, [$0], [], beside: required, &leftOut) }
    var rightCustom: [Mapped] = []
    for field in custom where Self.isRight(field, [], [field], beside: required, &leftOut) {
      if rightCustom.count < Limits.customFieldsMax {
        rightCustom.append(field)
      } else {
        leftOut.append(
          LeftOut(
            field: field.source,
            reason: "there are \(Limits.customFieldsMax) custom fields already"))
      }
    }
    let document = Self.document(required, rightKnown, rightCustom)
    return (try Installation(json: document), leftOut)
  }

  private static func document(
    _ required: JSONObject, _ known: [Mapped], _ custom: [Mapped]
  ) -> JSONValue {
    var document = required
    for field in known { document[field.target] = field.value }
    if !custom.isEmpty {
      var fields = JSONObject()
      for field in custom { fields[field.target] = field.value }
      document["custom"] = .object(fields)
    }
    return .object(document)
  }

  /// Whether an installation may have the field; otherwise it is noted why not.
  private static func isRight(
    _ field: Mapped, _ known: [Mapped], _ custom: [Mapped], beside required: JSONObject,
    _ leftOut: inout [LeftOut]
  ) -> Bool {
    do throws(InvalidField) {
      _ = try Installation(json: document(required, known, custom))
      return true
    } catch {
      leftOut.append(LeftOut(field: field.source, reason: error.message))
      return false
    }
  }

  private static func refusal(_ message: String) -> InvalidField {
    InvalidField(pointer: "", message: message)
  }

  /// The network, as Parse Server's push adapter chooses it: what `pushType` names goes before `deviceType`.
  private func address(_ object: JSONObject) throws(InvalidField) -> (Network, String) {
    let pushType = ForeignValue.plain(object[ForeignFields.pushType])?.stringValue
    let network: Network
    switch (ForeignValue.plain(object[ForeignFields.deviceType])?.stringValue, pushType) {
    case ("ios", "fcm"), ("android", nil), ("android", "gcm"), ("android", "fcm"),
      ("android", "android"), ("fcm", _):
      network = .fcm
    case ("ios", _): network = .apns
    case ("android", let type?): throw Self.refusal("its pushType is \(Self.shown(type))")
    case (let type?, _): throw Self.refusal("its deviceType is \(Self.shown(type))")
    case (nil, _): throw Self.refusal("it has no deviceType")
    }
    guard let token = ForeignValue.plain(object[ForeignFields.deviceToken])?.stringValue,
      !token.isEmpty
    else { throw Self.refusal("it has no deviceToken") }
    if network == .apns, let digits = DeviceToken.digits(described: token) {
      return (network, digits)
    }
    // Apps on iOS may use Firebase, too. Its tokens have a colon, those of APNs are hexadecimal.
    return (token.utf8.contains(UInt8(ascii: ":")) ? .fcm : network, token)
  }

  private static func shown(_ text: String) -> String { FieldPointer.printable(text) }

  private func user(_ object: JSONObject) throws(InvalidField) -> String {
    if let value = ForeignValue.plain(object[userField]) {
      if let user = ForeignValue.name(value), !user.isEmpty { return user }
      var kind = value.kindName
      if case .number = value { kind = "a number with a fraction or an exponent" }
      throw Self.refusal("its \(userField) is \(kind) that names nobody")
    }
    if let value = object["_p_\(userField)"], let user = ForeignValue.databasePointer(value) {
      return user
    }
    throw Self.refusal("it has no \(userField)")
  }

  /// The fields that pushpool has, too.
  private func known(_ object: JSONObject) -> [Mapped] {
    let pairs: [(sources: [String], target: String)] = [
      (fields.objectID, "object_id"), ([ForeignFields.deviceType], "device_type"),
      (fields.appName, "app_name"), ([ForeignFields.appVersion], "app_version"),
      (fields.sdkVersion, "sdk_version"), ([ForeignFields.timeZone], "time_zone"),
      (fields.locale, "language"), ([ForeignFields.badge], "badge"),
      ([ForeignFields.channels], "channels"), (fields.createdAt, "created_at"),
      (fields.updatedAt, "updated_at"),
    ]
    return pairs.compactMap { pair in
      for source in pair.sources {
        guard let value = ForeignValue.plain(object[source]), value != .string("") else { continue }
        return Mapped(
          source: source, target: pair.target, value: Self.converted(value, for: pair.target))
      }
      return nil
    }
  }

  private static func converted(_ value: JSONValue, for target: String) -> JSONValue {
    switch (target, value) {
    case ("created_at", _), ("updated_at", _): ForeignValue.instant(value)
    // Android's form of a locale.
    case ("language", .string(let text)): .string(text.replacing("_", with: "-"))
    // Parse's broadcast channel has no name: what everybody is in is the audience `all` here.
    case ("channels", .array(let names)): .array(names.filter { $0 != .string("") })
    default: value
    }
  }

  /// The fields that pushpool does not know, as text.
  private func custom(_ object: JSONObject, _ leftOut: inout [LeftOut]) -> [Mapped] {
    var custom: [Mapped] = []
    for member in object.members where fields.isCustom(member.name) && member.name != userField {
      guard let value = ForeignValue.plain(member.value) else { continue }
      if let text = ForeignValue.text(value) {
        custom.append(Mapped(source: member.name, target: member.name, value: .string(text)))
      } else {
        leftOut.append(LeftOut(field: member.name, reason: "is \(value.kindName)"))
      }
    }
    return custom
  }
}
