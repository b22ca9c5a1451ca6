internal import Model
internal import Operations
internal import Redis
internal import Store
internal import Typesetting

/// The routes of admins: keys are made, listed and revoked.
enum KeyRoutes {
  static func all(_ gate: Gatekeeper) -> [APIRoute] { [list, create, revoke(gate)] }

  private static let list = APIRoute(
    .get, "/v1/keys", .roles([.admin]),
    RouteDocument(
      "access", "List keys", "Lists all keys, the oldest first. Their secrets are not kept.",
      answers: [
        .init(
          200, "The keys",
          .json(Schema.object([("keys", Schema.array(of: keySchema()))], required: ["keys"])))
      ])
  ) { _, services async throws(Problem) in
    let keys = try await services.atHome { fleet throws(RedisError) in
      try await KeyOffice(fleet: fleet).list()
    }
    return .ok(["keys": .array(keys.map { .object($0.json()) })])
  }

  private static let create = APIRoute(
    .post, "/v1/keys", .roles([.admin]), bodyBytesMax: ServerLimits.keyBodyBytesMax,
    RouteDocument(
      "access", "Make a key", "The answer shows the key, once. Only a digest of it is kept.",
      request: .json(
        Schema.object(
          [
            ("role", Schema.choice(KeyRole.allCases.map(\.rawValue))),
            ("app", Schema.string("The app, of the role server", bytesMax: Limits.appBytesMax)),
            (
              "name",
              Schema.string(
                "A remark, such as who uses it", bytesMax: OperationsLimits.keyNameBytesMax)
            ),
          ], required: ["role"], closed: true)),
      answers: [.init(201, "The key was made", .json(keySchema(withText: true)))],
      problems: [
        (409, "There are as many keys as there may be"), (422, "A field breaks a rule"),
      ])
  ) { request, services async throws(Problem) in
    let (role, app, name) = try wish(request.json())
    let maker = request.caller.name
    let nowMs = InstantText.nowMs()
    let issued = try await services.atHome { fleet throws(RedisError) in
      try await KeyOffice(fleet: fleet).create(
        role, app: app, name: name, by: maker, nowMs: nowMs)
    }
    guard let issued else {
      throw .conflict(
        "there are \(StoreLimits.accessKeysMax) keys already: revoke those that nobody uses")
    }
    await services.noteAct(
      "key.create", app: app, subject: issued.key.id, detail: issued.key.words,
      by: request.caller)
    var object = issued.key.json()
    object.add(.string(issued.text.text), for: "key")
    return APIResponse(
      201, .json(.object(object)),
      headers: [
        (name: "location", value: "/v1/keys/\(issued.key.id)"),
        (name: "cache-control", value: "no-store"),
      ])
  }

  private static func revoke(_ gate: Gatekeeper) -> APIRoute {
    APIRoute(
      .delete, "/v1/keys/{id}", .roles([.admin]),
      RouteDocument(
        "access", "Revoke a key",
        "Each server refuses the key within 5 seconds, and the sessions that were begun with it.",
        answers: [.init(204, "The key is revoked")],
        problems: [(404, "There is no such key")])
    ) { request, services async throws(Problem) in
      let id = request.parameter("id")
      var (key, wasThere): (AccessKey?, Bool) = (nil, false)
      if KeyText.isID(id) {
        (key, wasThere) = try await services.atHome { fleet throws(RedisError) in
          let office = KeyOffice(fleet: fleet)
          let key = try await office.find(id)
          return (key, try await office.revoke(id))
        }
      }
      gate.keys.forget(id)
      guard wasThere else { throw .notFound("there is no key of this id") }
      await services.noteAct(
        "key.revoke", app: key?.app, subject: id, detail: key?.words ?? "", by: request.caller)
      return .noContent
    }
  }

  /// Reads what a key is to be.
  private static func wish(
    _ value: JSONValue
  ) throws(Problem) -> (role: KeyRole, app: String?, name: String) {
    guard case .object(let object) = value else {
      throw .badRequest("the body must be an object: {\"role\": \"server\", \"app\": \"shop\"}")
    }
    do throws(InvalidField) {
      let known = ["role", "app", "name"]
      for member in object.members {
        let pointer = FieldPointer.child(member.name, of: "")
        guard known.contains(member.name) else {
          throw InvalidField(
            pointer: pointer, message: NearestName.unknownField(member.name, among: known))
        }
        guard member.value.stringValue != nil else {
          throw InvalidField(
            pointer: pointer, message: "must be a string, is \(member.value.kindName)")
        }
      }
      guard let text = object["role"]?.stringValue else {
        throw InvalidField(pointer: "/role", message: "is missing: say what the key is for")
      }
      let role = try KeyOffice.role(text)
      let app = object["app"]?.stringValue
      let name = object["name"]?.stringValue ?? ""
      try KeyOffice.check(role, app: app, name: name)
      return (role, app, name)
    } catch {
      throw .invalid(error)
    }
  }

  private static func keySchema(withText: Bool = false) -> JSONValue {
    var fields: [(String, JSONValue)] = [
      ("id", Schema.string("By this it is revoked")),
      ("role", Schema.choice(KeyRole.allCases.map(\.rawValue))),
      ("app", Schema.string("The app, of the role server")), ("name", Schema.string("A remark")),
      ("created_at", Schema.instant("When it was made")),
      ("created_by", Schema.string("The person or the key that made it")),
    ]
    if withText { fields.append(("key", Schema.string("The key itself: it is shown once"))) }
    return Schema.object(
      fields,
      required: ["id", "role", "name", "created_at", "created_by"] + (withText ? ["key"] : []))
  }
}
