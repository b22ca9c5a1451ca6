internal import Model
internal import Operations

/// The routes by which a browser exchanges a key for a session, and by which an admin makes and revokes keys.
package enum SessionRoutes {
  package static func all(_ gate: Gatekeeper) -> [APIRoute] {
    [begin(gate), show, end(gate)] + KeyRoutes.all(gate)
  }

  private static func begin(_ gate: Gatekeeper) -> APIRoute {
    APIRoute(
      .post, "/v1/session", .open, bodyBytesMax: ServerLimits.keyBodyBytesMax,
      RouteDocument(
        "access", "Begin a browser's session",
        "Exchanges a key for a cookie (HttpOnly, SameSite=Strict), so that the page need not keep the key. The session "
          + "lasts 12 hours, and ends within 5 seconds when its key is revoked. The key stands in the body, or in the "
          + "field authorization.",
        request: .json(
          Schema.object(
            [("key", Schema.string("A key of the role operator-look, operator-act or admin"))],
            required: ["key"], closed: true)),
        answers: [.init(200, "The session has begun", .json(whoSchema))],
        problems: [
          (400, "The body is no object with a key"), (401, "The key is not known, or was revoked"),
          (403, "A key of another role, or a page of another site"),
          (422, "The body has another field than key"),
        ])
    ) { request, services async throws(Problem) in
      let caller = try await self.caller(of: request, gate)
      let cookie = try await gate.beginSession(for: caller)
      await services.noteAct("session.begin", subject: caller.name, by: caller)
      return who(caller).with("set-cookie", cookie)
    }
  }

  private static let show = APIRoute(
    .get, "/v1/session", .open,
    RouteDocument(
      "access", "Show who calls", "Says which role the key, the session or the user token has.",
      answers: [.init(200, "The caller", .json(whoSchema))],
      problems: [(401, "Nothing was shown, or the session has ended")])
  ) { request, _ async throws(Problem) in
    guard request.caller.role != nil else {
      throw .unauthorized("there is no session, or it has ended: begin one with a key")
    }
    return who(request.caller)
  }

  private static func end(_ gate: Gatekeeper) -> APIRoute {
    APIRoute(
      .delete, "/v1/session", .open,
      RouteDocument(
        "access", "End a browser's session",
        "Ends the session of the cookie. Without one, nothing happens.",
        answers: [.init(204, "There is no session any more")])
    ) { request, services async throws(Problem) in
      let cookie = try await gate.endSession(
        request.headers["cookie"], isSecure: request.caller.isSecure)
      // Others show no session, and end none.
      if request.caller.session != nil {
        await services.noteAct(
          "session.end", subject: request.caller.name, by: request.caller)
      }
      return APIResponse.noContent.with("set-cookie", cookie)
    }
  }

  /// Says whose key a request shows: that of its body, or else of its field `authorization`.
  private static func caller(
    of request: APIRequest, _ gate: Gatekeeper
  ) async throws(Problem) -> Caller {
    if request.body.isEmpty {
      // A session is no key: else it could go on for ever.
      guard request.headers["authorization"] != nil, request.caller.role != nil else {
        throw .unauthorized(
          "show a key: {\"key\": \"pp_…\"} as the body, or authorization: Bearer KEY")
      }
      return request.caller
    }
    guard case .object(let object) = try request.json() else {
      throw .badRequest("the body must be an object: {\"key\": \"pp_…\"}")
    }
    if let other = object.members.first(where: { $0.name != "key" }) {
      throw .invalid(
        InvalidField(
          pointer: FieldPointer.child(other.name, of: ""),
          message: NearestName.unknownField(other.name, among: ["key"])))
    }
    guard let text = object["key"]?.stringValue else {
      throw .badRequest("the body must be an object: {\"key\": \"pp_…\"}")
    }
    return try await gate.caller(showing: text, like: request.caller)
  }

  private static func who(_ caller: Caller) -> APIResponse {
    var object: JSONObject = ["role": caller.role.map { .string($0.rawValue) } ?? .null]
    object.add(caller.app.map { .string($0) }, for: "app")
    object.add(caller.user.map { .string($0) }, for: "user")
    object.add(.string(caller.name), for: "name")
    return .ok(.object(object)).with("cache-control", "no-store")
  }

  private static let whoSchema = Schema.object(
    [
      ("role", Schema.choice(Role.allCases.map(\.rawValue))),
      ("app", Schema.string("The one app that the caller is for; missing for all apps")),
      ("user", Schema.string("The user of a user token")),
      ("name", Schema.string("The id of the key, or the user of the user token")),
    ], required: ["role", "name"])
}

extension Gatekeeper {
  /// Says whose key a text is.
  /// - Parameter sender: whoever sent it, for the address.
  func caller(showing text: String, like sender: Caller) async throws(Problem) -> Caller {
    let peer = Peer(address: sender.address, isSecure: sender.isSecure)
    guard let key = KeyText(text) else {
      throw failed(
        .unauthorized(
          "the key is not whole: a key is pp_ROLE_ID_SECRET, as it was shown when it was made"),
        from: peer)
    }
    return try await caller(showing: key, from: peer)
  }
}
