package import Model
package import Redis

/// The bindings of device tokens to users. A token is one user's of an app at a time; a user may have many.
package struct InstallationStore {
  let functions: StoreFunctions

  /// Binds the token to the user; whoever had it before stops receiving on that device: the last installer wins.
  /// May be repeated, as apps do at each start: it renews the time and the generation of the binding. Where the user
  /// has as many as one may have, the one that was installed or renewed the longest ago makes room.
  /// - Throws: `.server("INVALID", …)` without a user.
  package func install(_ installation: Installation) async throws(RedisError) -> InstallResult {
    try await bind("install", installation)
  }

  /// Stores an installation as `install` does, unless its token is bound already. That is a conflict, and the answer
  /// names the token's object id.
  package func create(_ installation: Installation) async throws(RedisError) -> InstallResult {
    try await bind("create", installation)
  }

  /// Installs each as `install` does, in one pipeline. One that fails changes nothing for the others.
  /// - Parameter batch: at most `StoreLimits.importBatchMax`.
  /// - Returns: the answer to each, in their order.
  package func installEach(_ batch: [Installation]) async -> [Result<InstallResult, RedisError>] {
    precondition(batch.count <= StoreLimits.importBatchMax, "the batch is too large")
    return await functions.run(batch.map { call("install", $0) }, decode: Self.result)
  }

  private func bind(
    _ function: String, _ installation: Installation
  ) async throws(RedisError) -> InstallResult {
    try await functions.run(call(function, installation), decode: Self.result)
  }

  private func call(_ function: String, _ installation: Installation) -> RedisCommand {
    var command = functions.call(function)
    InstallationSections.of([installation]).append(to: &command)
    return command
  }

  private static func result(_ reply: RedisReply) throws(RedisError) -> InstallResult {
    try expectArray(reply, atLeast: 4)
    return InstallResult(
      status: try decodeWord(reply[0]), objectID: reply[1].string, previousUser: reply[2].string,
      evicted: try decodeCount(reply[3]))
  }

  /// Installs up to `StoreLimits.importBatchMax` at once. Callers keep several batches in flight.
  /// - Parameter turn: orders the batches of an import; nil where their order does not matter.
  /// - Throws: `.server("OVERTAKEN", …)` when a batch of a later turn was there first; nothing was changed.
  package func importBatch(
    _ batch: [Installation], turn: ImportTurn? = nil
  ) async throws(RedisError) -> ImportAnswer {
    precondition(batch.count <= StoreLimits.importBatchMax, "the batch is too large")
    var command = functions.call("install_many")
    InstallationSections.of(batch, in: turn).append(to: &command)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 4)
      return ImportAnswer(
        created: try decodeCount(reply[0]), updated: try decodeCount(reply[1]),
        moved: try decodeCount(reply[2]), evicted: try decodeCount(reply[3]))
    }
  }

  /// 128 random bits in hexadecimal.
  static func newID() -> String {
    let digits = Array("0123456789abcdef")
    return String((0..<32).map { _ in digits.randomElement()! })
  }

  /// Removes the binding; with an owner only that user's, since a late logout
  /// must not end the next user's binding. Repeating it is harmless.
  package func uninstall(
    app: String, token: DeviceToken, owner: String? = nil
  ) async throws(RedisError) -> UninstallAnswer {
    try await functions.run(removal(of: token, app: app, owner: owner)) {
      reply throws(RedisError) in try decodeWord(reply)
    }
  }

  /// Removes all bindings that a user has when it is called, in one pipeline. Repeating it is harmless.
  /// - Returns: how many it removed.
  package func uninstallAll(app: String, user: String) async throws(RedisError) -> Int {
    let commands = try await tokens(app: app, user: user).map {
      removal(of: $0, app: app, owner: user)
    }
    let answers: [Result<UninstallAnswer, RedisError>] = await functions.run(commands) {
      reply throws(RedisError) in try decodeWord(reply)
    }
    var removed = 0
    for answer in answers where try answer.get() == .removed { removed += 1 }
    return removed
  }

  private func removal(of token: DeviceToken, app: String, owner: String?) -> RedisCommand {
    functions.call("uninstall", app, token.network.rawValue, token.text, owner ?? "")
  }

  /// Removes the binding on the network's word that the token is dead, if it still is the one that was tried: what
  /// was bound again meanwhile stays.
  package func invalidate(
    app: String, _ invalid: Settlement.Invalidation, job: String
  ) async throws(RedisError) -> UninstallAnswer {
    let command = functions.call(
      "invalidate", app, invalid.network.rawValue, invalid.token, invalid.user,
      String(invalid.generation), invalid.sinceMs.map { String($0) } ?? "", invalid.reason, job)
    return try await functions.run(command) { reply throws(RedisError) in try decodeWord(reply) }
  }
}

/// The result of an install.
package struct InstallResult: Sendable, Equatable {
  package enum Status: String, Sendable {
    case created
    /// The token was the same user's before.
    case updated
    /// Another user had it, who receives nothing on this device any more.
    case moved
    /// `create` only: somebody has it, nothing was changed.
    case conflict
  }

  package let status: Status
  /// The existing one where there was one.
  package let objectID: String
  /// Who had the token; empty when nobody.
  package let previousUser: String
  /// How many of the user's bindings made room: a user has at most `Limits.installationsPerUserMax`.
  package var evicted = 0
}

/// The place of a batch among those of one import. A batch takes effect only while none of a later turn has: a copy of
/// it that was delayed changes nothing.
package struct ImportTurn: Sendable {
  let id: String
  private(set) var number = 0

  /// Makes the first turn of a new import.
  package init() { id = InstallationStore.newID() }

  /// Each sending of a batch has a turn of its own, a repeated one too.
  package mutating func advance() { number += 1 }
}

/// The result of storing a batch of installations.
package struct ImportAnswer: Sendable, Equatable {
  package var created = 0
  package var updated = 0
  package var moved = 0
  /// Bindings that made room: a user has at most `Limits.installationsPerUserMax`.
  package var evicted = 0

  /// Adds the result of another part of the batch, as in another shard.
  package mutating func add(_ other: ImportAnswer) {
    created += other.created
    updated += other.updated
    moved += other.moved
    evicted += other.evicted
  }
}

/// The result of a removal.
package enum UninstallAnswer: String, Sendable {
  case removed
  case absent
  /// Uninstall for an owner: another user has the token now.
  case otherOwner = "other_owner"
  /// Invalidation: the binding is not the one that the verdict is about.
  case stale
}
