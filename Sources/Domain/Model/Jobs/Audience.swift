/// Who receives a job.
package enum Audience: Sendable, Equatable {
  /// Every installation of these users; each user once, in the order given.
  case users([String])
  /// Every one of these installations; each once, in the order given.
  case installations([DeviceToken])
  /// Every installation of the users whose ids are the members of this Redis SET, ZSET or LIST.
  case usersKey(String)
  /// Every installation of the users who subscribe to this topic.
  case topic(String)
  /// The installations that are in this channel.
  case channel(String)
  /// Every installation of the app.
  case all

  var isOneInstallation: Bool {
    if case .installations(let tokens) = self { tokens.count == 1 } else { false }
  }

  /// Users or installations named; nil when only Redis knows.
  package var count: Int? {
    switch self {
    case .users(let users): users.count
    case .installations(let tokens): tokens.count
    case .usersKey, .topic, .channel, .all: nil
    }
  }
}

extension Audience {
  private static let kinds = ["users", "installations", "users_key", "topic", "channel", "all"]

  /// Exactly one kind; repeated users and installations are dropped.
  package init(json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(json, at: pointer, known: Self.kinds)
    guard reader.object.count == 1 else {
      let given = reader.object.members.map(\.name).joined(separator: ", ")
      throw InvalidField(
        pointer: pointer,
        message: "must hold exactly one of \(Self.kinds.joined(separator: ", ")), "
          + (given.isEmpty ? "is empty" : "holds \(given)"))
    }
    if let key = try reader.boundedText("users_key", bytesMax: Limits.usersKeyBytesMax) {
      self = .usersKey(key)
    } else if let topic = try reader.word(
      "topic", others: "_-", bytesMax: Limits.topicBytesMax)
    {
      self = .topic(topic)
    } else if let channel = try reader.boundedText(
      "channel", bytesMax: Limits.channelBytesMax)
    {
      self = .channel(channel)
    } else if let isAll = try reader.flag("all") {
      guard isAll else { throw reader.refused("all", "must be true: it has no other value") }
      self = .all
    } else if let users = try reader.array("users") {
      self = .users(try Self.users(users, at: reader.pointer(to: "users")))
    } else {
      let tokens = try reader.array("installations") ?? []
      self = .installations(try Self.tokens(tokens, at: reader.pointer(to: "installations")))
    }
  }

  package func json() -> JSONValue {
    switch self {
    case .users(let users): ["users": .array(users.map { .string($0) })]
    case .installations(let tokens):
      [
        "installations": .array(
          tokens.map { ["network": .string($0.network.rawValue), "token": .string($0.text)] })
      ]
    case .usersKey(let key): ["users_key": .string(key)]
    case .topic(let topic): ["topic": .string(topic)]
    case .channel(let channel): ["channel": .string(channel)]
    case .all: ["all": .bool(true)]
    }
  }

  private static func checkCount(
    _ items: [JSONValue], _ countMax: Int, _ noun: String, at pointer: @autoclosure () -> String
  ) throws(InvalidField) {
    guard !items.isEmpty else {
      throw InvalidField(pointer: pointer(), message: "must name at least one \(noun)")
    }
    guard items.count <= countMax else {
      throw InvalidField(
        pointer: pointer(),
        message: "must name at most \(countMax) \(noun)s, names \(items.count): split the job"
          + (noun == "user" ? ", or use users_key" : ""))
    }
  }

  private static func users(
    _ items: [JSONValue], at pointer: @autoclosure () -> String
  ) throws(InvalidField) -> [String] {
    try checkCount(items, Limits.usersPerJobMax, "user", at: pointer())
    var users: [String] = []
    users.reserveCapacity(items.count)
    // Most jobs have one user, whom nobody can repeat.
    var seen = Set<ByteExactText>(minimumCapacity: items.count > 1 ? items.count : 0)
    for (position, item) in items.enumerated() {
      guard case .string(let user) = item else {
        throw InvalidField(
          pointer: FieldPointer.element(position, of: pointer()),
          message: "must be a string, is \(item.kindName)")
      }
      do { try TextRule.checkUser(user) } catch {
        throw error.under(FieldPointer.element(position, of: pointer()))
      }
      if items.count == 1 || seen.insert(ByteExactText(user)).inserted { users.append(user) }
    }
    return users
  }

  private static func tokens(
    _ items: [JSONValue], at pointer: String
  ) throws(InvalidField) -> [DeviceToken] {
    try checkCount(items, Limits.installationsPerJobMax, "installation", at: pointer)
    var tokens: [DeviceToken] = []
    tokens.reserveCapacity(items.count)
    var seen = Set<DeviceToken>(minimumCapacity: items.count)
    for (position, item) in items.enumerated() {
      let place = FieldPointer.element(position, of: pointer)
      let reader = try FieldReader(item, at: place, known: ["network", "token"])
      guard let network = try reader.choice("network", of: Network.self) else {
        throw reader.refused("network", "is missing: \(Network.alternatives)")
      }
      let text = try reader.requiredString("token", why: "a device token of its network")
      let token: DeviceToken
      do { token = try DeviceToken(text, network: network) } catch { throw error.under(place) }
      if seen.insert(token).inserted { tokens.append(token) }
    }
    return tokens
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }
}
