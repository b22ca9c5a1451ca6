internal import Model
internal import Operations
internal import Redis
internal import Store

/// The routes of the switches by which operators stop what is sent.
package enum SwitchRoutes {
  package static let all = [fleetList, list] + SwitchedThing.allCases.flatMap(routes)

  private static let group = "switches"
  private static let lookers = APIRoute.Access.roles([.operatorLook])
  private static let actors = APIRoute.Access.roles([.operatorAct])

  /// Something of an app that has a switch, and what its path is called.
  private enum SwitchedThing: String, CaseIterable {
    case app, network, user, bucket, topic

    var pattern: PathPattern {
      let rest = self == .app ? "app" : "\(rawValue)/{\(rawValue)}"
      return PathPattern(stringLiteral: "/v1/apps/{app}/switches/\(rest)")
    }

    var words: String {
      switch self {
      case .app: "an app"
      case .network: "a network of an app"
      case .user: "a user"
      case .bucket: "the push-to-app events of a bucket"
      case .topic: "the jobs to a topic"
      }
    }

    /// - Throws: 422 for a name that breaks its rule.
    func killSwitch(_ request: APIRequest) throws(Problem) -> KillSwitch {
      let app = try AppPath(request).app
      let name = request.parameter(rawValue)
      do throws(InvalidField) {
        switch self {
        case .app: return .app(app)
        case .network:
          guard let network = Network(rawValue: name) else {
            let names = Network.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidField(pointer: "", message: "must be one of \(names)")
          }
          return .network(app: app, network)
        case .user:
          try TextRule.checkUser(name)
          return .user(app: app, name)
        case .bucket:
          try TextRule.check(name, bytesMax: Limits.eventTextBytesMax)
          return .bucket(app: app, name)
        case .topic:
          try TextRule.checkTopic(name)
          return .topic(app: app, name)
        }
      } catch { throw PathValue.refused(rawValue, error) }
    }
  }

  // MARK: Lists

  private static let fleetList = APIRoute(
    .get, "/v1/switches", lookers, listDocument("List what is switched off")
  ) { _, services throws(Problem) in
    let (reading, absences) = try await read(services)
    return .ok(json(reading, app: nil)).without(absences)
  }

  private static let list = APIRoute(
    .get, "/v1/apps/{app}/switches", lookers, listDocument("List what is switched off of an app")
  ) { request, services throws(Problem) in
    let app = try AppPath(request).app
    return .ok(json(try await read(services, of: app).reading, app: app))
  }

  private static func listDocument(_ summary: String) -> RouteDocument {
    RouteDocument(
      group, summary,
      "At most \(StoreLimits.switchesMax) switches of the fleet are honoured, and listed.",
      answers: [
        RouteDocument.Answer(
          200, "The switches.",
          .json(
            Schema.object(
              [
                ("switches", Schema.array(of: off)),
                ("overfull", Schema.boolean("Whether more are off in the fleet than are honoured")),
                (
                  "unknown",
                  Schema.array(
                    of: Schema.string(),
                    "Switches that this version does not know; of the fleet only")
                ),
              ], required: ["switches", "overfull"], closed: true)))
      ])
  }

  /// - Parameter app: whose shard alone is asked; nil for all shards that are there.
  private static func read(
    _ services: Services, of app: String? = nil
  ) async throws(Problem) -> (reading: SwitchReading, absences: [ShardAbsence]) {
    let (reading, absences) = try await services.look(of: app) { stores throws(RedisError) in
      try await Switchboard(stores: stores).read()
    }
    return (reading, absences)
  }

  /// - Parameter app: nil for all apps.
  private static func json(_ reading: SwitchReading, app: String?) -> JSONValue {
    let entries = reading.sorted.filter { entry in app.map { entry.killSwitch.app == $0 } ?? true }
    var object: JSONObject = [
      "switches": .array(entries.map { .object(json($0.killSwitch, $0.remark)) }),
      "overfull": .bool(reading.isOverfull),
    ]
    if app == nil { object["unknown"] = .array(reading.unknown.map { .string($0) }) }
    return .object(object)
  }

  // MARK: One switch

  private static func routes(_ thing: SwitchedThing) -> [APIRoute] {
    [show(thing), switchOff(thing), switchOn(thing)]
  }

  private static func show(_ thing: SwitchedThing) -> APIRoute {
    APIRoute(
      .get, thing.pattern, lookers,
      RouteDocument(
        group, "Show the switch of \(thing.words)",
        answers: [RouteDocument.Answer(200, "Whether it is off, and since when.", .json(one))])
    ) { request, services throws(Problem) in
      let killSwitch = try thing.killSwitch(request)
      // Exactly: lists have no more than are honoured.
      let isOff = try await services.ask(in: .app(killSwitch.app)) { stores throws(RedisError) in
        for store in stores {
          if try await !store.switches.thoseOff(among: [killSwitch]).isEmpty { return true }
        }
        return false
      }
      guard isOff else { return .ok(.object(json(killSwitch, nil))) }
      let entry = try await read(services, of: killSwitch.app).reading.entries.first {
        $0.killSwitch == killSwitch
      }
      return .ok(.object(json(killSwitch, entry?.remark ?? SwitchRemark([]))))
    }
  }

  private static func switchOff(_ thing: SwitchedThing) -> APIRoute {
    APIRoute(
      .put, thing.pattern, actors, bodyBytesMax: ServerLimits.controlBytesMax,
      RouteDocument(
        group, "Switch off \(thing.words)",
        "Nothing of it begins to be sent, on all workers within a second, until it is switched on again. What is off already "
          + "stays as it is, with the first reason.",
        request: .json(
          Schema.object(
            [
              (
                "reason",
                Schema.string("Why; may be left out", bytesMax: StoreLimits.switchReasonBytesMax)
              )
            ], closed: true)),
        answers: [RouteDocument.Answer(200, "It is off.", .json(one))],
        problems: [
          (status: 409, meaning: "As many are off as are honoured."),
          (status: 422, meaning: "The body breaks a rule."),
        ])
    ) { request, services throws(Problem) in
      let killSwitch = try thing.killSwitch(request)
      let fields = try RequestFields(request, known: ["reason"])
      let remark = try fields.string("reason", bytesMax: StoreLimits.switchReasonBytesMax) ?? ""
      let answer = try await services.ask(in: .app(killSwitch.app)) { stores throws(RedisError) in
        try await Switchboard(stores: stores).switchOff(killSwitch, reason: remark)
      }
      switch answer {
      case .off(let found):
        await services.noteAct(
          "switch.off", app: killSwitch.app, subject: killSwitch.field, detail: remark,
          by: request.caller)
        return .ok(.object(json(killSwitch, found)))
      case .already(let found): return .ok(.object(json(killSwitch, found)))
      case .full:
        throw .conflict(
          "\(killSwitch.words) stays on: \(StoreLimits.switchesMax) switches are off already, and more are "
            + "not honoured; switch some on, or a whole app off")
      }
    }
  }

  private static func switchOn(_ thing: SwitchedThing) -> APIRoute {
    APIRoute(
      .delete, thing.pattern, actors,
      RouteDocument(
        group, "Switch on \(thing.words)", "It may be repeated.",
        answers: [RouteDocument.Answer(204, "It is on.")])
    ) { request, services throws(Problem) in
      let killSwitch = try thing.killSwitch(request)
      let wasOff = try await services.ask(in: .app(killSwitch.app)) { stores throws(RedisError) in
        try await Switchboard(stores: stores).switchOn(killSwitch)
      }
      if wasOff {
        await services.noteAct(
          "switch.on", app: killSwitch.app, subject: killSwitch.field, detail: "",
          by: request.caller)
      }
      return .noContent
    }
  }

  /// - Parameter remark: nil for a switch that is on.
  private static func json(_ killSwitch: KillSwitch, _ remark: SwitchRemark?) -> JSONObject {
    var empty = SwitchRemark([])
    empty.reason = ""
    var object = killSwitch.json(remark ?? empty)
    object["off"] = .bool(remark != nil)
    return object
  }

  // MARK: Schemas

  private static let fields: [(String, JSONValue)] = [
    ("switch", Schema.string("Its name, as app|shop")), ("app", Schema.string()),
    ("network", Schema.choice(Network.allCases.map(\.rawValue))), ("user", Schema.string()),
    ("bucket", Schema.string()), ("topic", Schema.string()), ("off", Schema.boolean()),
    ("since", Schema.instant("Since when it is off")), ("reason", Schema.string("Why it is off")),
  ]
  private static let one = Schema.object(fields, required: ["switch", "app", "off"])
  private static let off = one
}
