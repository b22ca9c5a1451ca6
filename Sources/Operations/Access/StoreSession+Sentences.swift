internal import Model
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

// What is told of failures: where it was, why, and what to do.
extension StoreSession {
  static let closed = StoreFailure(.internalError, "the session is closed")

  /// Returns why a connection cannot be made, with advice.
  func cannotUse(_ link: ShardLink, _ failure: RedisError) -> StoreFailure {
    StoreFailure(
      .unavailable,
      "cannot use Redis at \(link.shard.place): "
        + failure.described(with: advice(after: failure, at: link)))
  }

  /// Returns why a shard cannot be used now.
  func absence(of link: ShardLink) -> StoreFailure {
    cannotUse(link, link.trouble ?? .unavailable(reason: "there is no connection yet"))
  }

  private func advice(after failure: RedisError, at link: ShardLink) -> String? {
    if let remedy = user.remedy(for: failure) { return remedy }
    switch failure {
    case .connectionLost, .timeout, .unavailable:
      return link.id.isOnly
        ? "start it, or name another with --redis URL"
        : "start it, or correct \(link.shard.redis.section).url"
    case .server, .protocolViolation, .tooManyPending, .unsuitable, .unexpectedReply: return nil
    }
  }

  func failure(
    _ error: OperationError, about subjects: [KeySubject], at links: [ShardLink]
  ) async -> StoreFailure {
    switch error {
    case .redis(let error): await failure(error, about: subjects, at: links)
    case .stopped: StoreFailure(.interrupted, "interrupted")
    case .notFoundYet(let id):
      StoreFailure(
        .interrupted,
        "job \(DisplayText.printable(id)) was not found yet, and nothing was changed")
    case .unknownJob(let app, let id): .unknownJob(id, app: app, or: "never enqueued")
    case .doomedJob(let id, let fault):
      StoreFailure(
        .invalid,
        "job \(DisplayText.printable(id)) waits for a worker, and nothing of it will be sent: the "
          + "one that takes it makes it a dead letter (pushpool dead list), because "
          + DisplayText.printable("\(fault)"))
    case .unmovedJob(let id, let refusal):
      StoreFailure(
        .invalid,
        "job \(DisplayText.printable(id)) is not moved to another start: \(refusal.reason)")
    }
  }

  func failure(
    _ error: RedisError, about subjects: [KeySubject], at links: [ShardLink]
  ) async -> StoreFailure {
    switch error {
    case .server("INVALID", let message): StoreFailure(.invalid, message)
    case .server("WRONGTYPE", _): await wrongType(error, about: subjects, at: links)
    case .server where error.isFunctionMissing:
      StoreFailure(
        .unavailable,
        "\(Self.place(of: links)): the functions of version \(client.version) are not loaded there: "
          + "start a worker of this version, or run a command once as \(DocumentedUser.operator.rawValue)"
      )
    case .server, .connectionLost, .timeout, .unavailable, .tooManyPending, .unsuitable:
      StoreFailure(
        .unavailable, "\(Self.place(of: links)): \(user.explain(error))",
        mayHaveHappened: error.mayHaveHappened)
    case .protocolViolation, .unexpectedReply:
      StoreFailure(.internalError, "\(Self.place(of: links)): \(error)")
    }
  }

  /// Of several shards, the one that is away is the one that failed.
  private static func place(of links: [ShardLink]) -> String {
    let away = links.filter { !$0.isReady }
    let places = (links.count > 1 && !away.isEmpty ? away : links).map(\.shard.place)
    return "Redis at \(places.joined(separator: ", "))"
  }

  /// Redis does not say which key it is: the keys are asked one by one.
  private func wrongType(
    _ error: RedisError, about subjects: [KeySubject], at links: [ShardLink]
  ) async -> StoreFailure {
    var findings: [KeyTypes.Finding] = []
    for link in links {
      findings += (try? await link.store.keyTypes.findings(after: error, about: subjects)) ?? []
    }
    let told = findings.prefix(OperationsLimits.wrongKeysNamedMax).map {
      "\(DisplayText.printable($0.sentence)); \($0.remedy)"
    }
    let what =
      told.isEmpty ? "\(error): another program uses the same prefix" : told.joined(separator: ". ")
    return StoreFailure(
      .wrongType, "\(Self.place(of: links)): \(what); or choose another prefix with --prefix")
  }
}

extension KeyTypes.Finding {
  /// Advice about it, with the command to type.
  var remedy: String {
    let name = ShellWord.quoted(key)
    if let staying { return "another program or a hand wrote it; \(staying.remedy(name))" }
    return "another program or a hand wrote it: move it away "
      + "(redis-cli RENAME \(name) \(ShellWord.quoted(aside)))"
  }
}
