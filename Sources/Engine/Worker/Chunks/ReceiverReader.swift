internal import Model
internal import Redis
internal import Store

/// Reads what a job needs to know of each receiver: the language of an installation, its badge, a user's values; loop-bound.
struct ReceiverReader {
  let store: Store
  let consumer: String

  /// What is known of some installations.
  struct Receivers {
    /// Which of the job's `MessageVariants` each gets.
    var variants: [UInt8]
    /// The badge that each gets; 0 for none, `Self.lost` where it is another user's by now.
    var badges: [Int32]

    static let lost: Int32 = -1
  }

  /// - Parameters:
  ///   - tokens: of installations; borrowed.
  ///   - owners: of each of these: its user, and whether it is sent to and has no badge of the job yet. Empty for a job that
  ///     raises none.
  /// - Returns: nil when the chunk is not this worker's any more.
  func read(
    _ run: ChunkRun, tokens: [(network: Network, token: UnsafeRawBufferPointer)],
    owners: [(user: UnsafeRawBufferPointer, wantsBadge: Bool)]
  ) async throws(RedisError) -> Receivers? {
    var receivers = Receivers(
      variants: Array(repeating: 0, count: tokens.count),
      badges: Array(repeating: 0, count: tokens.count))
    if run.material.variants.hasLanguages {
      try await readLanguages(run, tokens, &receivers.variants)
    }
    if run.material.content.raisesBadge {
      guard try await giveBadges(run, tokens, owners, &receivers.badges) else { return nil }
    }
    return receivers
  }

  private func giveBadges(
    _ run: ChunkRun, _ tokens: [(network: Network, token: UnsafeRawBufferPointer)],
    _ owners: [(user: UnsafeRawBufferPointer, wantsBadge: Bool)], _ badges: inout [Int32]
  ) async throws(RedisError) -> Bool {
    // What is to get none is not asked for: so a badge counts what was meant for its installation.
    let wanted = tokens.indices.filter { owners[$0].wantsBadge }
    let receivers = wanted.map {
      BadgeStore.Receiver(
        network: tokens[$0].network, token: tokens[$0].token, user: owners[$0].user)
    }
    var found = badges
    for index in wanted { found[index] = Receivers.lost }
    for first in stride(from: 0, to: receivers.count, by: StoreLimits.badgesMax) {
      let part = receivers[first..<min(first + StoreLimits.badgesMax, receivers.count)]
      let isOurs = try await store.badges.give(
        run.claim, consumer: consumer, isDryRun: run.material.content.dryRun, to: part
      ) { found[wanted[$0]] = $1 }
      guard isOurs else { return false }
    }
    badges = found
    return true
  }

  private func readLanguages(
    _ run: ChunkRun, _ tokens: [(network: Network, token: UnsafeRawBufferPointer)],
    _ variants: inout [UInt8]
  ) async throws(RedisError) {
    var found = variants
    for first in stride(from: 0, to: tokens.count, by: StoreLimits.languagesMax) {
      let part = tokens[first..<min(first + StoreLimits.languagesMax, tokens.count)]
      try await store.installations.languages(app: run.claim.app, of: part) { index, language in
        found[index] = run.material.variant(language: language)
      }
    }
    variants = found
  }

  /// Reads where the values of users are, in the run's table.
  /// - Parameter users: borrowed.
  func readVariables(
    _ run: ChunkRun, _ users: [UnsafeRawBufferPointer],
    _ finish: @escaping (Result<[VariableTable.Row], RedisError>) -> Void
  ) {
    guard !run.material.variants.placeholders.isEmpty else {
      return finish(.success(Array(repeating: .none, count: users.count)))
    }
    switch run.material.content.variables {
    case nil: finish(.success(Array(repeating: .none, count: users.count)))
    case .given(let given):
      finish(
        .success(users.map { run.addVariables(Variables.values(of: $0, in: given) ?? [:]) }))
    case .key(let key):
      var rows = Array(repeating: VariableTable.Row.noHash, count: users.count)
      store.variables.resolve(key, of: users) { index, values in
        switch values {
        case .nothing: rows[index] = run.addVariables([:])
        case .json(let json): rows[index] = run.addVariables(json: json)
        case .tooLong: rows[index] = .unreadable
        }
      } _: { result in
        finish(result.map { _ in rows })
      }
    }
  }
}
