package import Model
package import Redis

extension InstallationStore {
  /// The installations of many users at once, for the lanes: one MGET, nothing copied.
  /// - Parameter users: their ids, at most `StoreLimits.resolveUsersMax`; borrowed during the call.
  package func resolve(
    app: String, users: ArraySlice<UnsafeRawBufferPointer>,
    _ handler: @escaping (Result<ResolvedUsers, RedisError>) -> Void
  ) {
    let bytes = users.reduce(0) { $0 + $1.count }
    var question = question(users: users.count, bytes: bytes)
    question.add(users, app: app)
    ask(question, handler)
  }

  /// An empty question with room for so many users.
  /// - Parameter bytes: of all their ids.
  package func question(users: Int, bytes: Int) -> UserQuestion {
    UserQuestion(
      keys: functions.keys, reservingBytes: bytes + (users + 1) * StoreLimits.userKeyBytesUsual)
  }

  /// The installations of the users of a question, in their order.
  package func ask(
    _ question: UserQuestion, _ handler: @escaping (Result<ResolvedUsers, RedisError>) -> Void
  ) {
    let count = question.count
    functions.connection.send(question.command) { result in
      handler(
        result.flatMap { reply in
          // One for each: what is missing would be taken for a user without installations, or end the process.
          guard reply.kind == .array, reply.count == count else {
            return .failure(.unexpectedReply("MGET of \(count) keys has \(reply.count) answers"))
          }
          return .success(ResolvedUsers(reply))
        })
    }
  }

  /// Reads fields of installations' records, for the lanes.
  /// - Parameters:
  ///   - names: of the records' fields.
  ///   - tokens: with so many names at most `StoreLimits.fieldValuesMax` values, or one; borrowed during the call.
  ///   - note: called for each token with its position, and how to ask for its value of a name by the name's position: nil
  ///     for what its record lacks; borrowed during that call.
  package func fields(
    _ names: [String], app: String,
    of tokens: ArraySlice<(network: Network, token: UnsafeRawBufferPointer)>,
    _ note: @escaping (Int, (Int) -> UnsafeRawBufferPointer?) -> Void
  ) async throws(RedisError) {
    precondition(
      tokens.count <= max(StoreLimits.fieldValuesMax / names.count, 1),
      "too many installations at once")
    var command = functions.call("fields", app)
    command.reserve(
      arguments: names.count + tokens.count + 3,
      bytes: tokens.reduce(0) { $0 + $1.token.count })
    command.append("\(names.count)")
    for name in names { command.append(name) }
    var rest = tokens[...]
    while let network = rest.first?.network {
      let alike = rest.prefix { $0.network == network }
      command.append(network.rawValue)
      command.append(alike.count)
      for (_, token) in alike { command.append(token) }
      rest = rest[alike.endIndex...]
    }
    let (first, count, width) = (tokens.startIndex, tokens.count, names.count)
    try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, exactly: count * width)
      for index in 0..<count {
        note(first + index) { name in
          let value = reply[index * width + name]
          return value.isNull ? nil : value.bytes
        }
      }
    }
  }

  /// Whose a token is, for the lanes; nil when nobody's. A record that cannot be read is nobody's: what is wrong with
  /// one token must not hold up those that are read with it.
  package func resolve(
    app: String, network: Network, token: UnsafeRawBufferPointer,
    _ handler: @escaping (Result<TokenBinding?, RedisError>) -> Void
  ) {
    var prefix = functions.keys.tokenPrefix(network, app: app)
    var command = RedisCommand(reservingBytes: token.count + prefix.utf8.count + 96)
    command.append("HMGET")
    prefix.withUTF8 { command.append(UnsafeRawBufferPointer($0), then: token) }
    for field in ["user", "environment", "generation", "updated_at", "kind"] {
      command.append(field)
    }
    functions.connection.send(command) { result in
      switch result {
      case .success(let reply): handler(Self.binding(reply))
      case .failure(.server("WRONGTYPE", _)): handler(.success(nil))
      case .failure(let error): handler(.failure(error))
      }
    }
  }

  private static func binding(_ reply: RedisReply) -> Result<TokenBinding?, RedisError> {
    guard reply.count == 5 else { return .failure(.unexpectedReply("five fields were expected")) }
    // What only a newer version knows is bound to nobody as far as this one can send.
    guard !reply[0].isNull,
      let kind = reply[4].isNull ? TokenKind.alert : TokenKind(rawValue: reply[4].string),
      let environment = PushEnvironment(rawValue: reply[1].string),
      let generation = UInt64(reply[2].string), let updatedAtMs = Int64(reply[3].string)
    else { return .success(nil) }
    return .success(
      TokenBinding(
        user: reply[0].string, environment: environment,
        kind: kind, generation: generation,
        updatedAtMs: StoredNumber.instantMs(updatedAtMs)))
  }

  /// The record of a token; nil when it is bound to nobody.
  package func installation(
    app: String, token: DeviceToken
  ) async throws(RedisError) -> StoredInstallation? {
    let key = functions.keys.token(token.network, app: app, token: token.text)
    let fields = try await functions.connection.call(RedisCommand("HGETALL", key)).pairs
    return StoredInstallation(app: app, token: token, fields: fields)
  }

  /// All installations of a user, in the order of their last install.
  package func devices(
    app: String, user: String
  ) async throws(RedisError) -> [StoredInstallation] {
    try await records(tokens(app: app, user: user).map { (app, $0) })
  }

  /// The tokens of a user's lines, also of those whose record is gone.
  func tokens(app: String, user: String) async throws(RedisError) -> [DeviceToken] {
    let command = RedisCommand("GET", functions.keys.user(app: app, user: user))
    return try await functions.connection.call(command) { reply in
      BindingLines(reply.bytes).map { line in
        DeviceToken(stored: String(decoding: line.token, as: UTF8.self), network: line.network)
      }
    }
  }

  /// The next installations of an export.
  /// - Parameter app: nil for those of every app.
  package func export(app: String?, _ walk: KeyWalk) async throws(RedisError) -> ExportPage {
    return try await functions.read(
      "export_installations", [app ?? "", walk.cursor ?? "", walk.server]
    ) { reply throws(RedisError) in
      try ExportPage(reply, after: walk)
    }
  }

  private func records(
    _ tokens: [(app: String, token: DeviceToken)]
  ) async throws(RedisError) -> [StoredInstallation] {
    guard let last = tokens.last else { return [] }
    let pipeline = PipelineResult()
    let found = FoundInstallations()
    for (app, token) in tokens.dropLast() {
      functions.connection.send(command(app, token)) { result in
        pipeline.note(result)
        if case .success(let reply) = result { found.add(app, token, reply) }
      }
    }
    let reply = try await functions.connection.call(command(last.app, last.token))
    if let failure = pipeline.failure { throw failure }
    return found.list
      + [StoredInstallation(app: last.app, token: last.token, fields: reply.pairs)]
      .compactMap { $0 }
  }

  private func command(_ app: String, _ token: DeviceToken) -> RedisCommand {
    RedisCommand("HGETALL", functions.keys.token(token.network, app: app, token: token.text))
  }
}

/// Records as the replies of a pipeline bring them; loop-bound.
private final class FoundInstallations {
  private(set) var list: [StoredInstallation] = []

  func add(_ app: String, _ token: DeviceToken, _ reply: RedisReply) {
    let fields = RESPValue(reply).pairs
    if let found = StoredInstallation(app: app, token: token, fields: fields) { list.append(found) }
  }
}

/// The installations of the users that were asked for, in their order; borrowed, valid during the callback.
package struct ResolvedUsers {
  private let reply: RedisReply

  init(_ reply: RedisReply) { self.reply = reply }

  package var count: Int { reply.count }

  /// Empty for a user without installations, which is a normal outcome and no error.
  package subscript(index: Int) -> BindingLines { BindingLines(text(index)) }

  /// Returns the text of a user's installations as it stands in Redis.
  package func text(_ index: Int) -> UnsafeRawBufferPointer { reply[index].bytes }
}

/// Whose a token is.
package struct TokenBinding: Sendable, Equatable {
  package let user: String
  package let environment: PushEnvironment
  /// The kind of push that the token is for.
  package let kind: TokenKind
  package let generation: UInt64
  package let updatedAtMs: Int64
}
