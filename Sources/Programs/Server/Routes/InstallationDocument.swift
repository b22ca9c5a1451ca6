internal import Model

/// The document of an installation in a body, beside the path, which names its app and may name its token.
struct InstallationDocument {
  private let app: String
  /// Nil when the document names it.
  private let token: DeviceToken?
  /// The user whom alone the caller may act for; nil for a caller who may act for all of the app.
  private let own: String?

  init(app: String, token: DeviceToken? = nil, own: String? = nil) {
    self.app = app
    self.token = token
    self.own = own
  }

  /// A body as JSON.
  /// - Throws: 400 when it is none, or longer than an installation can be.
  static func parse(_ body: [UInt8]) throws(Problem) -> JSONValue {
    do throws(JSONSyntaxError) {
      return try JSONParser(
        bytesMax: Limits.installationBytesMax, valuesMax: Limits.installationValuesMax
      ).parse(body)
    } catch {
      throw .badRequest("the body is not an installation: \(error.description)")
    }
  }

  /// The installation of a body.
  /// - Throws: 400 when it is no JSON, 422 when a field breaks a rule, 403 when it is another user's than the caller may
  ///   act for.
  func installation(body: [UInt8]) throws(Problem) -> Installation {
    let value = try Self.parse(body)
    let installation: Installation
    do throws(InvalidField) { installation = try self.installation(value) } catch {
      throw .invalid(error)
    }
    if let own, !TextRule.isSame(installation.user, own) { throw OwnUser.otherUser }
    return installation
  }

  /// The installation of a document, with what it may leave out.
  func installation(_ value: JSONValue) throws(InvalidField) -> Installation {
    guard case .object(var object) = value else {
      throw InvalidField(pointer: "", message: "must be an object, is \(value.kindName)")
    }
    try Self.complete(&object, "app", app)
    if let token {
      try Self.complete(&object, "network", token.network.rawValue)
      try Self.complete(&object, "token", token)
    }
    if let own, object["user"] == nil { object["user"] = .string(own) }
    let installation = try Installation(json: .object(object))
    try PathValue.checkSegment(installation.user, at: "/user")
    return installation
  }

  private static func complete(
    _ object: inout JSONObject, _ name: String, _ text: String
  ) throws(InvalidField) {
    guard let value = object[name] else { return object[name] = .string(text) }
    guard value == .string(text) else { throw unequal(name) }
  }

  /// A token of APNs is the same in capital letters.
  private static func complete(
    _ object: inout JSONObject, _ name: String, _ token: DeviceToken
  ) throws(InvalidField) {
    guard let value = object[name] else { return object[name] = .string(token.text) }
    guard case .string(let text) = value,
      (try? DeviceToken(text, network: token.network)) == token
    else { throw unequal(name) }
  }

  private static func unequal(_ name: String) -> InvalidField {
    InvalidField(
      pointer: FieldPointer.child(name, of: ""),
      message: "must be the \(name) of the path: leave it out, or correct one of them")
  }
}
