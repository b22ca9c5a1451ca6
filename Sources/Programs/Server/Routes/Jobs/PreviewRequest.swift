internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

/// A request to see what a job would send: the job, and whom it is previewed for.
struct PreviewRequest: Sendable {
  /// Whom a preview is asked for.
  private enum Subject {
    case user(String)
    /// Each token as it is stored, once for each network that could have it.
    case tokens([[DeviceToken]])
    case anyDevices([PreviewTarget])
  }

  /// Installations of one user, and what the texts are filled in with for this user.
  private struct Receivers: Sendable {
    let targets: [PreviewTarget]
    let values: ReceiverValues
  }

  private let job: Job
  private let subject: Subject
  private let source: PreviewSource

  static let fields = ["job", "user", "tokens", "devices"]

  /// - Throws: 400 and 422 for a body that breaks a rule.
  init(_ request: APIRequest, _ source: PreviewSource, prefix: String) throws(Problem) {
    let app = try AppPath(request).app
    self.source = source
    let fields = try RequestFields(request, known: Self.fields)
    job = try Self.job(fields, app: app, prefix: prefix)
    let given = ["user", "tokens", "devices"].filter { fields[$0] != nil }
    guard given.count <= 1 else {
      throw fields.refused(
        given[1], "must not stand beside \(given[0]): give one of user, tokens and devices")
    }
    subject = try Self.subject(fields, source)
  }

  private static func job(
    _ fields: RequestFields, app: String, prefix: String
  ) throws(Problem) -> Job {
    guard let value = fields["job"] else {
      throw fields.refused("job", "is missing: give the job as it would be added")
    }
    guard var object = value.objectValue else {
      throw fields.refused("job", "must be an object, is \(value.kindName)")
    }
    if object["app"] == nil { object["app"] = .string(app) }
    do throws(InvalidField) {
      let job = try Job(json: .object(object))
      guard job.app == app else {
        throw InvalidField(
          pointer: "/app", message: "must be \"\(app)\", as in the path; it may be left out")
      }
      try OwnKeys.check(job, prefix: prefix)
      return job
    } catch { throw .invalid(error.under("/job")) }
  }

  private static func subject(
    _ fields: RequestFields, _ source: PreviewSource
  ) throws(Problem) -> Subject {
    if let user = try fields.string("user", bytesMax: Limits.userBytesMax) {
      do throws(InvalidField) { try TextRule.checkUser(user) } catch {
        throw fields.refused("user", error.message)
      }
      return .user(user)
    }
    if let items = try fields.array("tokens", countMax: ServerLimits.previewedTokensMax) {
      var tokens: [[DeviceToken]] = []
      for (index, item) in items.enumerated() {
        let pointer = FieldPointer.element(index, of: "/tokens")
        guard let text = item.stringValue else {
          throw .invalid(
            InvalidField(pointer: pointer, message: "must be a string, is \(item.kindName)"))
        }
        do throws(InvalidField) { tokens.append(try DeviceToken.candidates(text)) } catch {
          throw .invalid(InvalidField(pointer: pointer, message: error.message))
        }
      }
      return .tokens(tokens)
    }
    let kinds = Network.allCases.count * PushEnvironment.allCases.count
    guard let items = try fields.array("devices", countMax: kinds) else {
      return .anyDevices(usualDevices(source))
    }
    var targets: [PreviewTarget] = []
    for (index, item) in items.enumerated() {
      targets.append(
        try anyDevice(
          RequestFields(
            item, at: FieldPointer.element(index, of: "/devices"),
            known: ["network", "environment"])))
    }
    return .anyDevices(targets)
  }

  private static func anyDevice(_ fields: RequestFields) throws(Problem) -> PreviewTarget {
    let network = try fields.string("network", bytesMax: ServerLimits.reasonBytesMax)
    guard let network = network.flatMap({ Network(rawValue: $0) }) else {
      let names = Network.allCases.map(\.rawValue).joined(separator: ", ")
      throw fields.refused("network", "must be one of \(names)")
    }
    let named = try fields.string("environment", bytesMax: ServerLimits.reasonBytesMax)
    guard let environment = PushEnvironment(rawValue: named ?? "production") else {
      throw fields.refused("environment", "must be production or development")
    }
    return .anyDevice(network, environment)
  }

  /// A device of each network that the app has settings for.
  private static func usualDevices(_ source: PreviewSource) -> [PreviewTarget] {
    var targets: [PreviewTarget] = []
    for (network, environment) in source.networks where targets.last?.network != network {
      targets.append(.anyDevice(network, environment))
    }
    return targets
  }

  // MARK: The preview

  func response(_ services: Services) async throws(Problem) -> APIResponse {
    let (receivers, absent) = try await receivers(services)
    let nowMs = InstantText.nowMs()
    var object = JSONObject()
    var devices: [JSONValue] = []
    let app = try source.load(job.app)
    for group in receivers {
      let preview = JobPreview(
        of: job, to: group.targets, filledWith: group.values, with: app, nowMs: nowMs)
      guard case .object(let part) = preview.json(of: job) else { continue }
      devices += part["devices"]?.arrayValue ?? []
      object = part
    }
    object["devices"] = .array(devices)
    object["absent"] = .integer(absent)
    return .ok(.object(object))
  }

  /// The installations in groups of one user, at least one group; and how many tokens have no installation.
  private func receivers(
    _ services: Services
  ) async throws(Problem) -> (groups: [Receivers], absent: Int) {
    if case .anyDevices(let targets) = subject {
      return ([Receivers(targets: targets, values: .values([:]))], 0)
    }
    let request = self
    return try await services.ask(in: .app(job.app)) { stores throws(RedisError) in
      try await request.receivers(in: stores)
    }
  }

  private func receivers(
    in stores: [ShardStore]
  ) async throws(RedisError) -> (groups: [Receivers], absent: Int) {
    let lookup = InstallationLookup(stores: stores)
    var installations: [Installation] = []
    var absent = 0
    switch subject {
    case .anyDevices: break
    case .user(let user):
      installations = try await lookup.devices(app: job.app, user: user).map(\.installation)
    case .tokens(let tokens):
      for candidates in tokens {
        let found = try await Self.installation(candidates, app: job.app, lookup)
        if let found { installations.append(found) } else { absent += 1 }
      }
    }
    var groups: [Receivers] = []
    var rest = installations
    repeat {
      let user = rest.first?.user
      let own = rest.filter { one in user.map { TextRule.isSame(one.user, $0) } ?? false }
      rest.removeAll { one in user.map { TextRule.isSame(one.user, $0) } ?? true }
      groups.append(
        Receivers(
          targets: own.map { .installation($0) },
          values: try await ReceiverValues.read(for: user, of: job, in: stores)))
    } while !rest.isEmpty
    return (groups, absent)
  }

  private static func installation(
    _ candidates: [DeviceToken], app: String, _ lookup: InstallationLookup
  ) async throws(RedisError) -> Installation? {
    for token in candidates {
      if let found = try await lookup.installation(app: app, token: token) {
        return found.installation
      }
    }
    return nil
  }
}
