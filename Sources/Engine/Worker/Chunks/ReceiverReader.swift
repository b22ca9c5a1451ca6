internal import Model
internal import Redis
internal import Store

/// Reads what a job needs to know of each receiver: the language of an installation, its badge, a user's values; loop-bound.
struct ReceiverReader {
  let store: Store
  let consumer: String

  /// What is known of some receivers.
  struct Receivers {
    /// Of each user: where its values are.
    var rows: [VariableTable.Row]
    /// Of each installation: which of the job's `MessageVariants` it gets.
    var variants: [UInt8]
    /// Of each installation: the badge that it gets; 0 for none, `Self.lost` where it is another user's by now.
    var badges: [Int32]

    static let lost: Int32 = -1
  }

  /// - Parameters:
  ///   - users: borrowed, as the tokens.
  ///   - tokens: of installations.
  ///   - owners: of each of these: its user, and whether it is sent to and has no badge of the job yet.
  /// - Returns: nil when the chunk is not this worker's any more.
  func read(
    _ run: ChunkRun, users: [UnsafeRawBufferPointer],
    tokens: [(network: Network, token: UnsafeRawBufferPointer)],
    owners: [(user: UnsafeRawBufferPointer, wantsBadge: Bool)]
  ) async throws(RedisError) -> Receivers? {
    var receivers = Receivers(
      rows: Array(repeating: .none, count: users.count),
      variants: Array(repeating: 0, count: tokens.count),
      badges: Array(repeating: 0, count: tokens.count))
    if run.material.variants.hasLanguages {
      try await readLanguages(run, tokens, &receivers.variants)
    }
    if !run.material.variants.placeholders.isEmpty {
      try await readVariables(run, users, &receivers.rows)
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

  private func readVariables(
    _ run: ChunkRun, _ users: [UnsafeRawBufferPointer], _ rows: inout [VariableTable.Row]
  ) async throws(RedisError) {
    switch run.material.content.variables {
    case nil: return
    case .given(let given):
      rows = users.map { run.addVariables(Variables.values(of: $0, in: given) ?? [:]) }
    case .key(let key):
      var found = rows
      let isReadable = try await store.variables.resolve(key, of: users) { index, values in
        switch values {
        case .nothing: found[index] = run.addVariables([:])
        case .json(let json): found[index] = run.addVariables(json: json)
        case .tooLong: found[index] = .unreadable
        }
      }
      rows = isReadable ? found : Array(repeating: .noHash, count: users.count)
    }
  }
}
